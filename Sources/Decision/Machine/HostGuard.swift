/// The host guard: if more services than `close_at_once` would close for one cause, they stay open
/// until an operator confirms. One mistake at a source must not close every service of the host.
///
/// A cause is one event: an answer, silence, a reload. An end or a window is no cause, because it
/// was announced; neither is an override nor its end. The guard therefore compares the gates that
/// flags and policy ask for, without overrides.
struct HostGuard: Hashable, Sendable {
    /// How many services may close for one cause; nil is any number.
    private var limit: Int?
    /// The services with a held or a confirmed closing. Others are absent.
    private var holds: [ServiceName: Hold] = [:]

    private enum Hold {
        /// Too many closed for the same cause: it stays open. Left for `confirmed` by an operator,
        /// and for no hold when its flags open it again, or without a limit.
        case held
        /// An operator has confirmed: it closes as soon as it is decided. Left for no hold when its
        /// flags open it again, or without a limit.
        case confirmed
    }

    /// A guard that holds nothing yet; `limit` nil is any number.
    init(limit: Int?) { self.limit = limit }

    /// Whether the guard keeps a service open.
    func isHeld(_ name: ServiceName) -> Bool { holds[name] == .held }

    /// Restores a held closing from the ledger, after a start or if a service is configured again.
    mutating func restore(_ name: ServiceName, from entry: Ledger.Entry?) {
        guard let entry, entry.state != .undecided else { return }
        holds[name] = entry.isHeld ? .held : nil
    }

    /// Takes another limit, and drops services that are not configured any more.
    mutating func reconfigure(limit: Int?, isConfigured: (ServiceName) -> Bool) {
        self.limit = limit
        holds = holds.filter { isConfigured($0.key) }
    }

    /// Holds closings if more services than the limit would close for one event, and drops services
    /// that would not close any more. Returns a notice about newly held closings.
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

    /// Confirms the held closings among `names`, and returns the names of these services.
    mutating func confirm(_ names: [ServiceName]) -> [ServiceName] {
        let held = names.filter(isHeld)
        for name in held { holds[name] = .confirmed }
        return held
    }
}

extension Candidate {
    /// Whether flags or the policy ask for an open gate. Waiting for a first answer does not.
    fileprivate var opens: Bool {
        unforced.gate == .open && unforced.reason.source != nil
            && unforced.reason.slug != .awaitingFirstAnswer
    }

    /// Whether it would close for a cause: not because of an announced end or window.
    fileprivate var closesByCause: Bool {
        guard unforced.gate == .closed, wanted == .open else { return false }
        let slug = unforced.reason.slug
        return hasNews || (slug != .endPassed && slug != .window)
    }
}
