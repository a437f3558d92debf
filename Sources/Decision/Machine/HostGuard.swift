/// The host guard: more services than `close_at_once` that would close for one cause stay open until
/// an operator confirms. One mistake at a source must not end everything on the host.
///
/// A cause is one event: an answer, silence, a reload. An end or a window that comes true is no cause,
/// for it was announced; neither is an operator's order, nor its end. So the guard compares what the
/// flags and the policy want, whatever an operator has ordered meanwhile.
struct HostGuard: Hashable, Sendable {
    /// How many services may close for one cause; nil is any number.
    private var limit: Int?
    /// The services that want to close and are not let to, or are again. Others are absent.
    private var holds: [ServiceName: Hold] = [:]

    private enum Hold {
        /// Too many closed for the same cause: it stays open. Left for `confirmed` by an operator, and
        /// for no hold when its flags open it again, or without a limit.
        case held
        /// An operator has confirmed: it closes as soon as it is decided. Left for no hold when its
        /// flags open it again, or without a limit.
        case confirmed
    }

    init(limit: Int?) {
        self.limit = limit
    }

    /// Whether it keeps a service open.
    func isHeld(_ name: ServiceName) -> Bool { holds[name] == .held }

    /// Takes up what an earlier run held, or a service held when it left the configuration.
    mutating func restore(_ name: ServiceName, from entry: Ledger.Entry?) {
        guard let entry, entry.state != .undecided else { return }
        holds[name] = entry.isHeld ? .held : nil
    }

    /// Goes on under another limit, and lets go of services that are not configured any more.
    mutating func reconfigure(limit: Int?, isConfigured: (ServiceName) -> Bool) {
        self.limit = limit
        holds = holds.filter { isConfigured($0.key) }
    }

    /// Marks the services to be held of all that are decided for one event, and lets go of those that
    /// would not close any more. Gives a notice about newly held ones.
    mutating func judge(_ candidates: [Candidate]) -> Notice? {
        for candidate in candidates where limit == nil || candidate.opens {
            holds.removeValue(forKey: candidate.name)
        }
        guard let limit else { return nil }
        let closing = candidates.filter { $0.closesByCause && holds[$0.name] == nil }.map(\.name)
        guard closing.count > limit else { return nil }
        for name in closing { holds[name] = .held }
        return .closingHeld(closing.sorted(), limit: limit)
    }

    /// Lets those of the services close that are held. Gives them.
    mutating func confirm(_ names: [ServiceName]) -> [ServiceName] {
        let held = names.filter(isHeld)
        for name in held { holds[name] = .confirmed }
        return held
    }
}

extension Candidate {
    /// Whether flags or the policy open it: not the wait for a first answer.
    fileprivate var opens: Bool {
        unforced.gate == .open && unforced.reason.source != nil
            && unforced.reason.slug != .awaitingFirstAnswer
    }

    /// Whether it closes, and not by the time that its flags announced.
    fileprivate var closesByCause: Bool {
        guard unforced.gate == .closed, wanted == .open else { return false }
        let slug = unforced.reason.slug
        return hasNews || (slug != .endPassed && slug != .window)
    }
}
