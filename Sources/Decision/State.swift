/// What a service is in. The raw value is the word in state.json, in the journal and on command lines.
package enum State: String, CaseIterable, Sendable {
    case undecided
    case running
    case countdown
    case maintenance
    case updateRequired = "update-required"
    case ended
}

extension State {
    /// How much the state takes away: `ended` most. Of several switches the most restrictive wins.
    package var restrictiveness: Int {
        switch self {
        case .undecided: 0
        case .running: 1
        case .countdown: 2
        case .maintenance: 3
        case .updateRequired: 4
        case .ended: 5
        }
    }
}

/// What a verdict means for units. An undecided service has no gate: nothing is moved for it.
package enum Gate: String, CaseIterable, Sendable {
    case open
    case closed
}
