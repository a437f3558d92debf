package import CivilTime

/// What is to be done. The order of a list of effects is the order in which they are performed:
/// flags are on disk before they are acted on, and files are written before anything is moved.
package enum Effect: Hashable, Sendable {
    /// Fetch this source once, only if it changed since these validators, and report how that ended.
    case fetch(SourceName, Validators)
    /// Store these answers, newest first, over restarts; they replace the stored ones.
    case storeFlags(SourceName, [Answer])
    /// Set the mark that says when the source last confirmed its flags: just now.
    case markConfirmed(SourceName)
    /// Store the ledger over restarts.
    case storeLedger(Ledger)
    /// Store these overrides over restarts; they replace the stored ones.
    case storeOverrides([ServiceName: Override])
    /// Write the files of this service.
    ///
    /// Indirect, as are `reject` and `announce`: the effects of most events are small, and stay so.
    indirect case publish(Service, Record)
    /// Remove the files of a service that is no longer configured. Its gate is not moved.
    case withdraw(ServiceName)
    /// Follow this source no longer, and remove the trace of its confirmations. What is stored of it
    /// stays: it may come back.
    case unfollow(SourceName)
    /// Tell the operator who gave this order that it is not taken, and why.
    indirect case reject(ServiceName, Override, OrderObjection)
    /// Say this, once.
    indirect case announce(Notice)
    /// Send `Event.woke` at the earlier of the two; this replaces the wake-up asked for before.
    case sleep(Wake)
}

/// When the machine wants to be woken, on each axis of time.
package struct Wake: Hashable, Sendable {
    package var boot: Boottime?
    package var wall: Instant?

    package init(boot: Boottime? = nil, wall: Instant? = nil) {
        self.boot = boot
        self.wall = wall
    }
}

extension Wake {
    /// Comes no later than `moment`.
    mutating func include(boot moment: Boottime) {
        boot = boot.map { min($0, moment) } ?? moment
    }

    /// Comes no later than `instant`.
    mutating func include(wall instant: Instant) {
        wall = wall.map { min($0, instant) } ?? instant
    }

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

/// Why an operator's order is not taken. It changes nothing then.
package enum OrderObjection: Hashable, Sendable {
    /// The order is for an open gate, and the gate is closed, or nothing is decided yet.
    case notOpen(State)
    /// The order is for an open gate, and would replace somebody's order.
    case overridden(Override)
    /// The order is for an open gate, which the host guard keeps open against its flags.
    case held
    /// A reload has taken the service away.
    case notConfigured
}
