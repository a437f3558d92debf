import CivilTime

extension Machine {
    /// Whether the work goes on: every source has a fetch in flight inside its time limit, or a timer
    /// ahead. The watchdog is fed by the answer alone, so that a lost timer, or a fetch that never
    /// ends, gets the daemon started again.
    package func isProgressing(at now: Now) -> Bool {
        sources.allSatisfy { source in
            switch source.activity {
            case .fetching(_, let limit):
                now.boot <= limit + Self.lateness
            case .waiting(let moment):
                now.boot <= moment + Self.lateness && isAwake(for: moment)
            }
        }
    }

    /// Whether a wake-up was asked for that comes in time for `moment`.
    private func isAwake(for moment: Boottime) -> Bool {
        guard let wake = lastWake?.boot else { return false }
        return wake <= moment
    }

    /// How late an event may be on a busy host before it counts as lost.
    private static let lateness: Duration = .seconds(5)
}
