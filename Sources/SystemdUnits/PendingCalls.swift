package import Decision
package import Gates

/// The calls to systemd that are to be sent, in their order.
///
/// A connection may wait for 128 answers at a time (dbus-daemon(1), `max_replies_per_connection`): the bus refuses the
/// next call, and that move would be tried again a second later. systemd, which asks polkit about each job, has that
/// limit too.
///
/// Jobs that open or close a gate are first, so that all units begin to stop before the first target of a state starts.
/// Reads are last, few at a time, and one at a time beside jobs: systemd answers in turn, and a job must not wait for
/// hundreds of answers. The jobs of one service keep their order.
package struct PendingCalls {
    /// A call that is to be sent now.
    package enum Call: Hashable, Sendable {
        case job(TargetJob)
        case read(UnitName)
    }

    private var moves = ArraySlice<TargetJob>()
    /// The starts of targets of states, by service, and the services in their order.
    private var states: [ServiceName: [TargetJob]] = [:]
    private var services = ArraySlice<ServiceName>()
    private var reads = ArraySlice<UnitName>()
    private var jobsInFlight = 0
    private var readsInFlight = 0

    package init() {}

    /// Has a job sent.
    package mutating func append(_ job: TargetJob) {
        let service = job.target.service
        if job.isStartOfState {
            if states[service] == nil { services.append(service) }
            states[service, default: []].append(job)
        } else {
            moves += states.removeValue(forKey: service) ?? []
            moves.append(job)
        }
    }

    /// Has a unit read.
    package mutating func append(_ unit: UnitName) { reads.append(unit) }

    /// The next call; nil if there is none, or if enough are in flight.
    package mutating func next() -> Call? {
        if jobsInFlight < Self.mostJobs, let job = nextJob() {
            jobsInFlight += 1
            return .job(job)
        }
        let most = jobsInFlight > 0 ? 1 : Self.mostReads
        guard readsInFlight < most, let unit = reads.popFirst() else { return nil }
        readsInFlight += 1
        return .read(unit)
    }

    private mutating func nextJob() -> TargetJob? {
        while moves.isEmpty, let service = services.popFirst() {
            // Nil where a later move has taken them along.
            moves += states.removeValue(forKey: service) ?? []
        }
        return moves.popFirst()
    }

    /// systemd has answered a job.
    package mutating func jobAnswered() { jobsInFlight -= 1 }

    /// systemd has answered a read.
    package mutating func readAnswered() { readsInFlight -= 1 }

    private static let mostJobs = 64
    /// A read is up to 10 calls.
    private static let mostReads = 4
}
