package import CivilTime

/// What happened. Everything the machine knows of the world comes through here.
package enum Event: Hashable, Sendable {
    /// The first event: the machine takes up its work.
    case started
    /// The time that `Effect.sleep` asked for has come.
    case woke
    /// Somebody set the wall clock.
    case clockStepped
    /// A fetch that was asked for has ended. `date` is the time by the answering server's clock.
    case fetched(SourceName, Outcome, date: Instant? = nil)
    /// The source may have changed: worth a fetch now, and no more than that.
    case hinted(SourceName)
    /// The source cannot be watched for this reason, so that changes are seen at the polls alone; nil
    /// when it can again.
    case unwatched(SourceName, problem: String?)
    /// What is strange about the source's flags, each a clause; empty when nothing is any more. It
    /// changes no flag.
    case doubted(SourceName, [String])
    /// A write was done, or failed with this clause.
    case recorded(WriteOperation, problem: String?)
    /// An operator lets what the host guard holds of these services go ahead.
    case confirm([ServiceName], by: String)
    /// An operator orders a state for a service; with `ifOpen` only for an open gate that nobody else
    /// has a hand in. Taken, or rejected by `Effect.reject`.
    case override(ServiceName, Override, ifOpen: Bool = false)
    /// An operator, named as in `Override`, releases a service to its flags; with `only` not from
    /// another order than that of this cause.
    case release(ServiceName, by: String, only: String? = nil)
    /// What `activation` holds back takes force: of one service, or of all.
    case activate(ServiceName?)
    /// An operator has everything dropped that is known of a source, and it is asked anew.
    case forget(SourceName, by: String)
    /// The installed version of a service is this, by the file that says so. A file that cannot be
    /// read says nothing: the version stays.
    case installed(ServiceName, Version)
    /// The configuration was read again. Whoever fetches follows the new sources already; `replaced`
    /// are those of before that it asks anew from now on. What was under way of them was given up,
    /// and nothing more is told of it. `remembered` is what is stored of those that are new.
    case reconfigured(
        Plan, replaced: [SourceName: Replacement] = [:],
        remembered: [SourceName: Memory.Kept] = [:])
    /// Nobody waits any longer: decide with what is known.
    case patienceEnded
}

/// What the answers of a source are to the one that a reload puts in its place.
package enum Replacement: Hashable, Sendable {
    /// Its own: it asks the same, in another way at most.
    case sameAddress
    /// Another's: it asks something else.
    case otherAddress
}

/// An effect that writes, as it is reported back: done, or failed.
package enum WriteOperation: Hashable, Sendable {
    case storeFlags(SourceName)
    case markConfirmed(SourceName)
    case storeLedger
    case storeOverrides
    case publish(ServiceName)
}
