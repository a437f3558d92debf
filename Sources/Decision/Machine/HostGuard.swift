package import CivilTime

/// The host guard: if more services than `close_at_once` would close within `close_within`, those
/// beyond stay open until an operator confirms. One mistake must not close every service of a host.
///
/// What closes by flags, by silence or by a reload counts, from whatever source. What one event
/// closes is closed or held as a whole, because nothing tells which of its services were meant. An
/// end or a window does not count if it was known for `notice` before it came true; else it is a
/// closing of the answer that brought it. Neither counts an override nor its end: the guard
/// compares the gates that flags and policy ask for.
struct HostGuard: Hashable, Sendable {
    private var limits: GuardLimits
    /// The services with a held or a confirmed closing. Others are absent.
    private var holds: [ServiceName: Hold] = [:]
    /// The last counted closing of each service, as long as others may be counted with it.
    private var closings: [ServiceName: Closing] = [:]

    private enum Hold {
        /// Too many closed with it: it stays open. Left for `confirmed` by an operator, and for no
        /// hold when its flags open it again, or without a limit.
        case held
        /// An operator has confirmed: it closes as soon as it is decided. Left for no hold when its
        /// flags open it again, or without a limit.
        case confirmed
    }

    /// A guard that holds nothing yet.
    init(limits: GuardLimits) { self.limits = limits }

    /// Whether the guard keeps a service open.
    func isHeld(_ name: ServiceName) -> Bool { holds[name] == .held }

    /// The last counted closing of a service, as long as others may be counted with it.
    func closing(of name: ServiceName) -> Closing? { closings[name] }

    /// Restores a held and a counted closing from the ledger, after a start or if a service is
    /// configured again. The closings of an earlier boot are over.
    mutating func restore(_ name: ServiceName, from entry: Ledger.Entry?, bootID: String) {
        guard let entry, entry.state != .undecided else { return }
        holds[name] = entry.isHeld ? .held : nil
        if entry.bootID == bootID, let closing = entry.closing { closings[name] = closing }
    }

    /// Takes other limits, and drops the holds of services that are not configured any more. Their
    /// closings still count, so that a reload does not make room for others.
    mutating func reconfigure(limits: GuardLimits, isConfigured: (ServiceName) -> Bool) {
        self.limits = limits
        holds = holds.filter { isConfigured($0.key) }
    }

    /// Holds the closings of one event if there would be too many with those before, and drops
    /// services that would not close any more. Returns a notice about newly held closings.
    mutating func judge(_ candidates: [Candidate], at now: Now) -> Notice? {
        for candidate in candidates where limits.count == nil || candidate.opens {
            holds.removeValue(forKey: candidate.name)
        }
        guard let limit = limits.count else { return nil }
        closings = closings.filter { !limits.isOver($0.value, at: now) }
        var new: [ServiceName: Closing] = [:]
        for candidate in candidates where holds[candidate.name] == nil {
            new[candidate.name] = candidate.closing(limits, at: now)
        }
        guard !new.isEmpty else { return nil }
        let others = closings.filter { known in
            new[known.key] == nil && new.values.contains { limits.isNear(known.value, $0) }
        }
        guard new.count + others.count > limit else {
            closings.merge(new) { $1 }
            return nil
        }
        for name in new.keys { holds[name] = .held }
        return .closingHeld(new.keys.sorted(), earlier: others.keys.sorted(), limit: limit)
    }

    /// Confirms the held closings among `names`, and returns the names of these services.
    mutating func confirm(_ names: [ServiceName]) -> [ServiceName] {
        let held = names.filter(isHeld)
        for name in held { holds[name] = .confirmed }
        return held
    }
}

/// A closing that the host guard counts.
package struct Closing: Hashable, Sendable {
    /// When its cause came: itself, or the answer that brought the end or the window.
    package let cause: Boottime
    /// When it happened.
    package let at: Boottime

    /// A closing of this boot.
    package init(cause: Boottime, at: Boottime) {
        self.cause = cause
        self.at = at
    }
}

extension GuardLimits {
    /// Whether two closings are counted together: they, or their causes, are near each other.
    fileprivate func isNear(_ known: Closing, _ new: Closing) -> Bool {
        new.at - known.at < within || new.cause == known.cause
            || abs(new.cause - known.cause) < within
    }

    /// Whether no closing is counted with this one any more. An end that the same answer brought
    /// comes true less than `notice` after it, else it is no closing.
    fileprivate func isOver(_ closing: Closing, at now: Now) -> Bool {
        now.boot - closing.at >= within && now.boot - closing.cause >= within + notice
    }

    private func abs(_ distance: Duration) -> Duration { max(distance, .zero - distance) }
}

extension Candidate {
    /// Whether flags or the policy ask for an open gate. Waiting for a first answer does not.
    fileprivate var opens: Bool {
        unforced.gate == .open && unforced.reason.source != nil
            && unforced.reason.slug != .awaitingFirstAnswer
    }

    /// The closing that counts; nil unless it would close, or because it was announced in time.
    fileprivate func closing(_ limits: GuardLimits, at now: Now) -> Closing? {
        guard unforced.gate == .closed, wanted == .open else { return nil }
        guard let lead, !isReconfigured else { return Closing(cause: now.boot, at: now.boot) }
        if lead.length >= limits.notice { return nil }
        return Closing(cause: lead.since, at: now.boot)
    }
}
