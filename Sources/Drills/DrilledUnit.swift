package import Decision
package import Gates

/// A unit of a drill, with its state before the drill.
package struct DrilledUnit: Hashable, Sendable {
    /// Its part in the drill.
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
    /// Whether the target that it is attached to starts it; otherwise the target only permits it.
    package let isStarted: Bool
    package let before: UnitSnapshot

    package init(name: UnitName, kind: Kind, isStarted: Bool, before: UnitSnapshot) {
        self.name = name
        self.kind = kind
        self.isStarted = isStarted
        self.before = before
    }

    /// Whether it was not down before the drill.
    package var wasUp: Bool { !before.seen.active.isDown }

    /// Whether the drill has failed if it does not run afterwards.
    package var mustComeBack: Bool {
        switch kind {
        // A triggered unit comes back with its next trigger; a job that was under way is over.
        case .attached:
            wasUp && (isStarted || before.triggeredBy.isEmpty && before.seen.active != .activating)
        case .dependent: true
        case .state: false
        }
    }

    /// Whether the closing need not wait for this unit. A unit that is not loaded any more is down;
    /// a dependent that systemd does not stop may stay up.
    package func hasStopped(_ seen: UnitStatus?) -> Bool {
        guard let seen else { return true }
        switch kind {
        case .attached: return seen.isAtRestDown
        case .dependent: return seen.isAtRest
        case .state: return true
        }
    }

    /// Whether the reopening need not wait for this unit, `wait` after the gate opened.
    /// A unit that is to run and has no job yet may get one from elsewhere a moment later.
    package func hasSettled(_ seen: UnitStatus?, after wait: Duration) -> Bool {
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

    /// How long it may take to stop: without a limit systemd's default, for a drill cannot wait for ever.
    package var stopLimit: Duration { before.stopLimit ?? .seconds(90) }
    /// How long it may take to start, likewise.
    package var startLimit: Duration { before.startLimit ?? .seconds(90) }
}
