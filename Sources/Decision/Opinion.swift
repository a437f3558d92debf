package import CivilTime

/// What one switch would have the service do, now. The most restrictive opinion is the verdict.
package struct Opinion: Hashable, Sendable {
    package var state: State
    package var gate: Gate
    package var reason: Reason
    package var endsAt: Instant?
    /// The window that is announced, where nothing more restrictive is.
    package var nextWindow: Window?
    package var title: String?
    package var message: String?
    var retryAfter: Duration?
    /// Whose flags it rests on; nil where none ever came.
    package var source: SourceName?
    package var version: String?
    package var isStale = false

    init(state: State, gate: Gate, reason: Reason) {
        self.state = state
        self.gate = gate
        self.reason = reason
    }

    /// What the days are counted to.
    var deadline: Instant? { endsAt ?? nextWindow?.from }

    /// Whether `other` takes less away. What closes the gate outranks what only warns, whatever the
    /// words: with `update_required = "open"` an update never hides a maintenance. Of two ends, or
    /// of two windows ahead, the earlier counts.
    func outranks(_ other: Opinion) -> Bool {
        if gate != other.gate { return gate == .closed }
        if state != other.state {
            return state.restrictiveness > other.state.restrictiveness
        }
        guard let deadline else { return false }
        return other.deadline.map { deadline < $0 } ?? true
    }

    /// Gives the trouble of an opinion that comes to the same as the reason: where two switches agree
    /// and one of them stands on doubtful flags, somebody should look.
    mutating func takeTrouble(from others: [Opinion?]) {
        guard !reason.isTrouble else { return }
        let position = others.firstIndex { $0?.isSameInTrouble(as: self) ?? false }
        guard let position, let troubled = others[position] else { return }
        reason = troubled.reason
        isStale = troubled.isStale
    }

    private func isSameInTrouble(as other: Opinion) -> Bool {
        reason.isTrouble && gate == other.gate && state == other.state && endsAt == other.endsAt
    }
}

extension Policy {
    /// Whether units may run in `state`; nil while undecided.
    package func gate(of state: State) -> Gate? {
        switch state {
        case .undecided: nil
        case .running, .countdown: .open
        case .updateRequired: updateRequired
        case .maintenance, .ended: .closed
        }
    }
}
