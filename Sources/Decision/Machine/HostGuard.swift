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
    /// When the first of the closings stops to count, or earlier; nil without any.
    private var earliestOver: Boottime?

    /// Left for no hold when its flags open the service again, or without a limit.
    private enum Hold {
        /// Too many closed with it: it stays open. Left for `confirmed` by an operator.
        case held
        /// It was open though its flags close it, and nobody can read why: it stays open. Left for `confirmed` by an
        /// operator.
        case kept
        /// An operator has confirmed: it closes as soon as it is decided.
        case confirmed
    }

    /// A guard that holds nothing yet.
    init(limits: GuardLimits) { self.limits = limits }

    /// Whether the closings of one event are judged together.
    var isLimited: Bool { limits.count != nil }

    /// Whether the guard keeps a service open.
    func isHeld(_ name: ServiceName) -> Bool { holds[name] == .held || holds[name] == .kept }

    /// The last counted closing of a service, as long as others may be counted with it.
    func closing(of name: ServiceName) -> Closing? { closings[name] }

    /// Restores closings from the ledger, at a start or for a new service. Those of an earlier boot are over.
    mutating func restore(_ name: ServiceName, from entry: Ledger.Entry?, bootID: String) {
        guard let entry, entry.state != .undecided else { return }
        holds[name] = entry.isHeld ? .held : nil
        guard entry.bootID == bootID, let closing = entry.closing else { return }
        closings[name] = closing
        let over = limits.countedUntil(closing)
        earliestOver = min(earliestOver ?? over, over)
    }

    /// Keeps a service open until its flags open it, or an operator confirms.
    mutating func keepOpen(_ name: ServiceName) { holds[name] = .kept }

    /// Takes other limits, and drops the holds of services that are gone. Their closings count: a reload makes no room.
    mutating func reconfigure(limits: GuardLimits, isConfigured: (ServiceName) -> Bool) {
        self.limits = limits
        earliestOver = closings.values.map(limits.countedUntil(_:)).min()
        holds = holds.filter { isConfigured($0.key) }
    }

    /// Holds the closings of one event if there would be too many with those before, and drops
    /// services that would not close any more. Returns a notice about newly held closings.
    mutating func holdExcess(of candidates: [Candidate], at now: Now) -> LogMessage? {
        for candidate in candidates {
            let isLifted = limits.count == nil && holds[candidate.name] != .kept
            if isLifted || candidate.opens || !candidate.isEnforced {
                holds.removeValue(forKey: candidate.name)
            }
        }
        guard let limit = limits.count else { return nil }
        // Drops the closings with which no other is counted any more.
        if let over = earliestOver, over <= now.boot {
            closings = closings.filter { limits.countedUntil($0.value) > now.boot }
            earliestOver = closings.values.map(limits.countedUntil(_:)).min()
        }
        var new: [ServiceName: Closing] = [:]
        for candidate in candidates where holds[candidate.name] == nil {
            new[candidate.name] = candidate.closing(limits, at: now)
        }
        guard !new.isEmpty else { return nil }
        let others = others(near: new)
        guard new.count + others.count > limit else {
            closings.merge(new) { $1 }
            let ends = new.values.map(limits.countedUntil(_:))
            earliestOver = (ends + [earliestOver].compactMap(\.self)).min()
            return nil
        }
        for name in new.keys { holds[name] = .held }
        return .closingHeld(new.keys.sorted(), earlier: others.sorted(), limit: limit)
    }

    /// The services of earlier closings that are counted together with one of these, all of them of now.
    private func others(near new: [ServiceName: Closing]) -> [ServiceName] {
        // Sorted, so that each of the earlier ones is compared with its neighbours alone.
        let causes = new.values.map(\.cause).sorted()
        guard let now = new.values.first?.at else { return [] }
        return closings.filter { name, known in
            guard new[name] == nil else { return false }
            if now - known.at < limits.within { return true }
            let earlier = causes.countOfFirst { $0 < known.cause }
            let neighbours = causes[max(0, earlier - 1)..<min(causes.count, earlier + 1)]
            return neighbours.contains { limits.isNear(known.cause, $0) }
        }.map(\.key)
    }

    /// Confirms the held closings among `names`, and returns the names of these services.
    mutating func confirmClosings(of names: [ServiceName]) -> [ServiceName] {
        let held = names.filter(isHeld)
        for name in held { holds[name] = .confirmed }
        return held
    }
}

/// A closing that the host guard counts.
package struct Closing: Hashable, Sendable {
    /// When its cause came: itself, or the answer that brought the end or the window.
    package let cause: Boottime
    package let at: Boottime

    /// A closing of this boot.
    package init(cause: Boottime, at: Boottime) {
        self.cause = cause
        self.at = at
    }
}

extension GuardLimits {
    /// Whether closings of these causes are counted together.
    fileprivate func isNear(_ known: Boottime, _ new: Boottime) -> Bool {
        new == known || (new - known).magnitude < within
    }

    /// When no closing is counted with this one any more. An end that the same answer brought comes
    /// true less than `notice` after it, else it is no closing.
    fileprivate func countedUntil(_ closing: Closing) -> Boottime {
        max(closing.at + within, closing.cause + within + notice)
    }
}

extension Candidate {
    /// Whether flags or the policy ask for an open gate. Waiting for a first answer does not.
    fileprivate var opens: Bool {
        unforced.gate == .open && unforced.reason.source != nil
            && unforced.reason.slug != .awaitingFirstAnswer
    }

    /// The closing that counts; nil unless it would close, or because it was announced in time.
    fileprivate func closing(_ limits: GuardLimits, at now: Now) -> Closing? {
        guard isEnforced, unforced.gate == .closed, wanted == .open else { return nil }
        guard let lead, !isReconfigured else { return Closing(cause: now.boot, at: now.boot) }
        if lead.length >= limits.notice { return nil }
        return Closing(cause: lead.since, at: now.boot)
    }
}
