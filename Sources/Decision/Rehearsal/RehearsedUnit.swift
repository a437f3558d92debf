import CivilTime

/// A unit that a drill has something to do with, and how it stood before.
package struct RehearsedUnit: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// It runs while the gate is open, and must be down while it is closed.
        case attached
        /// It is attached to nothing that closes, and stops because it requires this unit.
        case dependent(on: UnitName)
        /// It runs in the state that the drill forces, and only then.
        case state
    }

    package let name: UnitName
    package let kind: Kind
    /// Whether what it is attached to starts it; otherwise that only permits it.
    package let isStarted: Bool
    package let before: UnitAccount

    package init(name: UnitName, kind: Kind, isStarted: Bool, before: UnitAccount) {
        self.name = name
        self.kind = kind
        self.isStarted = isStarted
        self.before = before
    }

    package var wasUp: Bool { !before.seen.active.isDown }

    /// Whether the drill has failed where it does not run afterwards.
    package var mustComeBack: Bool {
        switch kind {
        // What is triggered comes back with its next trigger; a job that was under way is over.
        case .attached:
            wasUp && (isStarted || before.triggeredBy.isEmpty && before.seen.active != .activating)
        case .dependent: true
        case .state: false
        }
    }

    /// Whether the closing has nothing more to wait for at this unit. One that is not known any more is
    /// down; a dependent that nothing has told to stop stays as it is.
    package func hasStopped(_ seen: Seen?) -> Bool {
        guard let seen else { return true }
        switch kind {
        case .attached: return seen.isAtRestDown
        case .dependent: return seen.isAtRest
        case .state: return true
        }
    }

    /// Whether the reopening has nothing more to wait for at this unit, so long after the gate opened.
    /// What is to run and has no job yet may get one from elsewhere a moment later.
    package func hasSettled(_ seen: Seen?, after wait: Duration) -> Bool {
        guard let seen else { return true }
        guard seen.isAtRest else { return false }
        switch kind {
        case .attached, .dependent:
            return !seen.active.isDown || seen.active == .failed || !(mustComeBack || isStarted)
                || wait >= Self.moment
        case .state: return seen.active.isDown || wait >= Self.moment
        }
    }

    private static let moment: Duration = .seconds(1)

    /// Systemd's own default where there is none, for a drill cannot wait for ever.
    package var stopLimit: Duration { before.stopLimit ?? .seconds(90) }
    package var startLimit: Duration { before.startLimit ?? .seconds(90) }
}
