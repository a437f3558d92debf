package import CivilTime

/// What is to be done. The order of a list of effects is the order in which they are performed:
/// flags are on disk before they are acted on, and files are written before anything is moved.
package enum Effect: Hashable, Sendable {
    /// Fetch this source once, only if it changed since these validators, and report how that ended.
    case fetch(SourceName, Validators)
    /// Keep these answers, newest first, over restarts; they replace what was kept.
    case store(SourceName, [Answer])
    /// The source has confirmed its flags just now.
    case confirm(SourceName)
    /// Keep the ledger over restarts.
    case remember(Ledger)
    /// Keep these overrides over restarts; they replace what was kept.
    case keep([ServiceName: Override])
    /// Write the files of a service.
    ///
    /// Indirect, as is `announce`: the effects of most events are small, and stay so.
    indirect case publish(ServiceName, Record)
    /// Remove the files of a service that is no longer configured. Its gate is not moved.
    case withdraw(ServiceName)
    /// Follow this source no longer, and remove the trace of its confirmations. What is stored of it
    /// stays: it may come back.
    case drop(SourceName)
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
