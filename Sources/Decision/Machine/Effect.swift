package import CivilTime

/// Something to do: the only output of the machine. Effects are performed in their order: flags are on disk before the
/// machine acts on them, and files are written before a gate moves.
package enum Effect: Hashable, Sendable {
    /// Fetch this source once, conditional on these validators, and report the outcome. A source with mirrors asks this
    /// one.
    case fetch(SourceName, Validators, mirror: Int? = nil)
    /// Store these answers, newest first, over restarts; they replace the stored ones.
    case storeFlags(SourceName, [Answer])
    /// Store the highest version of this source's signed documents over restarts, and report the outcome:
    /// the document counts afterwards. Dropping the answers does not drop it.
    case storeVersion(SourceName, AcceptedVersion)
    /// Remove the stored highest version of this source's signed documents.
    case dropVersion(SourceName)
    /// Reserve the space of the highest version: a full disk must not keep a signed closing out.
    case reserveVersion(SourceName)
    /// Read the stored highest version of this source again: it could not be read before.
    case readVersion(SourceName)
    /// Read these stored files again, which could not be read, and report what is in them.
    case readAgain(Set<StoredRecord>)
    /// Give this stored file another name before it is written: it cannot be read, and nothing writes over it.
    case setAside(StoredRecord)
    /// Have this source forget what it knows of earlier answers: any next answer counts.
    case forget(SourceName)
    /// Set the mark of the source's last confirmation to now.
    case markConfirmed(SourceName)
    /// Store the ledger over restarts.
    case storeLedger(Ledger)
    /// Store these overrides over restarts; they replace the stored ones.
    case storeOverrides([ServiceName: Override])
    /// Write the files of this service. Indirect, as are `reject` and `log`: most effects are small, and stay so.
    indirect case publish(Service, PublishedVerdict)
    /// Start the units that pass on this news of a service. Its files have it.
    case announce(ServiceName, Hook)
    /// Ask this guard whether a step may come, and report its answer. One that does not come in time holds the step.
    case ask(GuardName)
    /// Remove the files of a service that is no longer configured. Its gate is not moved.
    case withdraw(ServiceName)
    /// Stop this source and remove its mark of confirmations. A later configuration may use its stored flags.
    case stopSource(SourceName)
    /// Tell the author of this order that it is rejected, and the objection.
    indirect case reject(ServiceName, Override, OrderObjection)
    /// Write this line to the log, once.
    indirect case log(LogMessage)
    /// Send `Event.woke` at the earlier of the two times; it replaces the wake-up before.
    case sleep(Wake)
}

/// What hooks are run for: units that are attached to a service and started once each time.
package enum Hook: Hashable, Comparable, Sendable {
    /// An end or planned maintenance is announced.
    case notice
    /// The state is another.
    case change
}

/// The time of the next wake-up, by each clock; nil is never.
package struct Wake: Hashable, Sendable {
    package var boot: Boottime?
    package var wall: Instant?

    /// A wake-up at the earlier of the two times.
    package init(boot: Boottime? = nil, wall: Instant? = nil) {
        self.boot = boot
        self.wall = wall
    }

    /// A wake-up whose time has come already.
    static let atOnce = Wake(boot: Boottime(microseconds: .min))

    /// Comes no later than `moment`.
    mutating func include(boot moment: Boottime) { boot = boot.map { min($0, moment) } ?? moment }

    /// Comes no later than `instant`.
    mutating func include(wall instant: Instant) { wall = wall.map { min($0, instant) } ?? instant }

    /// Comes no later than `other`.
    mutating func include(_ other: Wake) {
        if let moment = other.boot { include(boot: moment) }
        if let instant = other.wall { include(wall: instant) }
    }

    /// Whether one of the two times is reached.
    func hasCome(at now: Now) -> Bool {
        boot.map { $0 <= now.boot } ?? false || wall.map { $0 <= now.wall } ?? false
    }
}

/// Why an operator's order is rejected. A rejected order changes nothing.
package enum OrderObjection: Hashable, Sendable {
    /// The order is for an open gate, and the gate is closed or the service is undecided.
    case notOpen(State)
    /// The order is for an open gate, and would replace another override.
    case overridden(Override)
    /// The order is for an open gate, and the host guard keeps it open against its flags.
    case held
    case notConfigured
}
