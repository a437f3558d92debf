package import CivilTime

/// What is kept over restarts of each service's states.
package struct Ledger: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var state: State
        package var since: Instant
        package var generation: Int
        /// The boot in which the entry was made.
        package var bootID: String
        /// Whether the host guard keeps it open: what it holds it holds over restarts too.
        package var isHeld: Bool

        package init(
            state: State, since: Instant, generation: Int, bootID: String, isHeld: Bool = false
        ) {
            self.state = state
            self.since = since
            self.generation = generation
            self.bootID = bootID
            self.isHeld = isHeld
        }
    }

    package var entries: [ServiceName: Entry]

    package init(entries: [ServiceName: Entry] = [:]) {
        self.entries = entries
    }
}

/// What earlier runs left behind.
package struct Memory: Hashable, Sendable {
    /// Of each source the answers in force, newest first, and when the newest was last confirmed.
    package struct Kept: Hashable, Sendable {
        package var answers: [Answer]
        package var confirmedAt: Instant

        package init(answers: [Answer], confirmedAt: Instant) {
            self.answers = answers
            self.confirmedAt = confirmedAt
        }
    }

    package var flags: [SourceName: Kept]
    package var ledger: Ledger
    package var overrides: [ServiceName: Override]

    package init(
        flags: [SourceName: Kept] = [:], ledger: Ledger = Ledger(),
        overrides: [ServiceName: Override] = [:]
    ) {
        self.flags = flags
        self.ledger = ledger
        self.overrides = overrides
    }
}
