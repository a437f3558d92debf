package import CivilTime

/// The time of an event by both clocks. It comes with the event: the machine reads no clock.
package struct Now: Hashable, Sendable {
    /// The wall clock, for ends, windows and midnights. It may step, and it may be wrong.
    package var wall: Instant
    /// The clock since boot, for polls, time-outs and ages.
    package var boot: Boottime
    /// Whether the kernel calls the wall clock synchronised (adjtimex(2)); nil if untold since the start or a step.
    package var isSynchronised: Bool?

    /// One moment, read from both clocks.
    package init(wall: Instant, boot: Boottime, isSynchronised: Bool? = false) {
        self.wall = wall
        self.boot = boot
        self.isSynchronised = isSynchronised
    }
}

/// Something that happened: the only input of the machine.
package enum Event: Hashable, Sendable {
    /// The first event: the machine takes up its work.
    case started
    /// The time that `Effect.sleep` asked for has come.
    case woke
    case clockStepped
    /// The fetch in flight has ended. `date` is the `Date` of the answering server, and `age` the time that the answer
    /// has been in caches on the way.
    indirect case fetchEnded(
        SourceName, Outcome, date: Instant? = nil, age: Duration = .zero)
    /// The source may have changed: a fetch is worth it now.
    case hinted(SourceName)
    /// The source is watched for changes, or cannot be for this problem: then only polls see them.
    case watchChanged(SourceName, problem: String?)
    /// The list of signers of a source was read, or cannot be used for this problem: then no new document
    /// counts, and the flags in force stay.
    case signersRead(SourceName, problem: String?)
    /// All present warnings about the source and its flags, each a clause. They change no flag.
    case warningsChanged(SourceName, [String])
    /// The stored highest version of a source's signed documents was read again.
    case versionRead(SourceName, Stored<AcceptedVersion>)
    /// Stored files that could not be read were read again.
    indirect case memoryRead(Memory)
    /// Every known document of a source that is unproved, keyed by its mark (`SignedAnswer.identity`),
    /// each with the cause. Delivered when the list of signers has changed, and at the start.
    indirect case disproved(SourceName, [[UInt8]: String])
    /// A write was done, or failed with this problem.
    case writeEnded(WriteOperation, problem: String?)
    /// Somebody has deleted files of a service: they are written again.
    case filesDeleted(ServiceName)
    /// Somebody has deleted files of the state directory: everything stored is written again.
    case stateDeleted
    /// An operator confirms the held closings of these services, and lets their held steps come.
    case confirm([ServiceName], by: String)
    /// An operator orders a state for a service. With `ifOpen` the order is rejected by
    /// `Effect.reject` unless the gate is open without an override or a held closing.
    indirect case force(ServiceName, Override, ifOpen: Bool = false)
    /// An operator, named as in `Override`, ends an override; with `only` not an override with another cause.
    case release(ServiceName, by: String, only: String? = nil)
    /// A drill of a service has ended so, as an operator's program says.
    indirect case drillEnded(ServiceName, DrillResult, by: String)
    /// Staged flags take force: those of one service, or of all.
    case activate(ServiceName?)
    /// A guard has answered the question of `Effect.ask`.
    indirect case guardAnswered(GuardName, GuardAnswer)
    /// An operator drops the flags of a source, which is then fetched again. With `versionCause`, the
    /// operator's reason, the highest version of its signed documents is dropped too.
    case forget(SourceName, by: String, versionCause: String? = nil)
    /// The file with the installed version of a service holds this one. A file that cannot be read causes no event.
    case versionInstalled(ServiceName, Version)
    /// The configuration was read again, and the driver follows its sources already. `replaced` are
    /// the earlier sources that another object fetches from now on: they have no fetch in flight,
    /// and no event of the object before follows. `remembered` are the stored flags of new sources.
    indirect case reconfigured(
        Plan, replaced: [SourceName: Replacement] = [:],
        remembered: [SourceName: Memory.StoredFlags] = [:])
    /// No first answer is waited for any longer: the machine decides with the flags it has.
    case startupWaitEnded
}

/// Whether a source asks the same address after a reload.
package enum Replacement: Hashable, Sendable {
    /// It does, perhaps in another way: the flags are its own.
    case sameAddress
    /// It does not: the flags become inherited flags.
    case otherAddress
}

/// An effect that writes to disk and can fail.
package enum WriteOperation: Hashable, Sendable {
    case storeFlags(SourceName)
    case storeVersion(SourceName)
    case dropVersion(SourceName)
    case reserveVersion(SourceName)
    case markConfirmed(SourceName)
    case storeLedger
    case storeOverrides
    case publish(ServiceName)
}
