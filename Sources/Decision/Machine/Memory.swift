package import CivilTime

/// The state, since and generation of every service, in the state directory.
package struct Ledger: Hashable, Sendable {
    /// The present state of one service.
    package struct Entry: Hashable, Sendable {
        package var state: State
        /// When the state began.
        package var since: Instant
        /// The number of changes of state, kept over reboots.
        package var generation: Int
        /// The boot (`/proc/sys/kernel/random/boot_id`) in which the entry was made.
        package var bootID: String
        /// Whether the host guard holds its closing; a restart does not confirm it.
        package var isHeld: Bool
        /// Its closing that the host guard counts, in the boot of this entry; nil without one.
        package var closing: Closing?
        /// Since when its ends and windows are known; nil if that was not recorded.
        package var announced: [Announcement: Instant]?
        /// The notices of its ends and windows that were told; nil if none were.
        package var published: [Announcement: Set<Duration>]?
        /// When it is this host's turn to open the gate, in the boot of this entry; nil unless it waits.
        package var turn: Boottime?
        /// Until when the units of its closed gate may run on, in the boot of this entry; nil if they stopped at once.
        package var drainsUntil: Boottime?
        package var drill: LastDrill?
        /// The latest end, window's edge, step or `expires` of each source that has come; nil if nobody recorded it.
        package var passed: [SourceName: Instant]?
        /// The order in force; nil without one.
        package var order: Order?
        /// Whether it was only observed: nothing was closed, whatever its state was.
        package var isObserved = false
        /// The last state for which units were started; nil where none are.
        package var announcedState: State?

        /// What the ledger knows of an order: where the orders cannot be read, it is enough to keep them.
        package struct Order: Hashable, Sendable {
            /// Its end; nil for one that stands until somebody releases it.
            package let until: Instant?
            /// The gate that flags and policy want behind it; nil if unknown.
            package let unforced: Gate?

            /// An order until then.
            package init(until: Instant?, unforced: Gate?) {
                self.until = until
                self.unforced = unforced
            }
        }

        /// An entry of the boot `bootID`.
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
    /// Whether its entries say which orders are in force. Those of an earlier version do not.
    package var hasOrders: Bool

    /// A ledger with these entries.
    package init(
        entries: [ServiceName: Entry] = [:], hasOrders: Bool = true
    ) {
        self.entries = entries
        self.hasOrders = hasOrders
    }
}

/// What an earlier run has stored of something. What cannot be read is not absent.
package enum Stored<Value: Hashable & Sendable>: Hashable, Sendable {
    /// Nothing was ever stored.
    case none
    case known(Value)
    /// It cannot be read, for this cause.
    case unreadable(String)

    /// Nil without one, and while it cannot be read.
    package var value: Value? {
        get { if case .known(let value) = self { value } else { nil } }
        set { self = newValue.map { .known($0) } ?? .none }
    }

    /// Why it cannot be read; nil if it can, or if there is nothing.
    package var problem: String? {
        if case .unreadable(let cause) = self { cause } else { nil }
    }
}

/// A file of the state directory that decides. Where it cannot be read, what it may say is kept.
package enum StoredRecord: Hashable, Sendable {
    case ledger
    case overrides
    case flags(SourceName)
}

/// Everything that earlier runs have stored: flags, ledger, overrides.
package struct Memory: Hashable, Sendable {
    /// The stored flags of one source.
    package struct StoredFlags: Hashable, Sendable {
        /// The answers that switches rest on, newest first.
        package var answers: [Answer]
        /// When the source last confirmed the newest answer.
        package var confirmedAt: Instant
        /// The highest version of its signed documents.
        package var accepted: Stored<AcceptedVersion>
        /// Why answers are unproved, keyed by `SignedAnswer.identity`.
        package var disproved: [[UInt8]: String] = [:]
        /// Why the answers cannot be read; nil if they can, or if there are none.
        package var problem: String?

        /// `answers` newest first, the newest confirmed at `confirmedAt`.
        package init(
            answers: [Answer], confirmedAt: Instant, accepted: Stored<AcceptedVersion> = .none
        ) {
            self.answers = answers
            self.confirmedAt = confirmedAt
            self.accepted = accepted
        }
    }

    package var flags: [SourceName: StoredFlags]
    package var ledger: Stored<Ledger>
    package var overrides: Stored<[ServiceName: Override]>
    /// What the files of services say that were published in this boot: for a ledger that does not.
    package var published: [ServiceName: Ledger.Entry] = [:]

    /// An empty memory unless given.
    package init(
        flags: [SourceName: StoredFlags] = [:], ledger: Stored<Ledger>,
        overrides: Stored<[ServiceName: Override]>
    ) {
        self.flags = flags
        self.ledger = ledger
        self.overrides = overrides
    }

    /// A memory in which all can be read.
    package init(
        flags: [SourceName: StoredFlags] = [:], ledger: Ledger = Ledger(),
        overrides: [ServiceName: Override] = [:]
    ) {
        self.init(flags: flags, ledger: .known(ledger), overrides: .known(overrides))
    }
}

/// How a drill of a service ended.
package struct DrillResult: Hashable, Sendable {
    package let at: Instant
    /// Why it has failed, as a clause; nil if it succeeded.
    package let problem: String?
    /// The units that it has stopped as they should stop; nil if nobody has told.
    package let stopped: [UnitName]?

    /// A drill that ended at this time.
    package init(at time: Instant, problem: String?, stopped: [UnitName]? = nil) {
        at = time
        self.problem = problem
        self.stopped = stopped
    }

    package var isGood: Bool { problem == nil }
}

/// The last drill of a service, and the last successful one. It is kept over restarts and reboots.
package struct LastDrill: Hashable, Sendable {
    package let result: DrillResult
    /// When the last successful drill ended; nil if none ever did.
    package let lastGood: Instant?

    /// As it was stored.
    package init(_ result: DrillResult, lastGood: Instant?) {
        self.result = result
        self.lastGood = lastGood
    }

    private static let mostUnits = 500

    /// A drill after the one before. The units that drills have stopped are those of all of them.
    init(_ drill: DrillResult, after before: LastDrill?) {
        var stopped = drill.stopped
        if var units = stopped {
            let new = Set(units)
            units += (before?.result.stopped ?? []).filter { !new.contains($0) }
            stopped = Array(units.prefix(Self.mostUnits))
        }
        self.init(
            DrillResult(at: drill.at, problem: drill.problem, stopped: stopped),
            lastGood: drill.isGood ? drill.at : before?.lastGood)
    }
}

extension Ledger.Entry {
    /// What has come for each source of a service. Where that was not recorded, what had led to the state had come.
    func passed(for service: Service) -> [SourceName: Instant] {
        let sources = service.switches.map { ($0.source, since) }
        return passed ?? Dictionary(sources) { first, _ in first }
    }
}
