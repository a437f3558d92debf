package import CivilTime
package import Decision

/// What happens to the acknowledgements of a host in one cluster.
package enum AcknowledgementEvent: Hashable, Sendable {
    /// Something of a service was published. `fingerprint` differs if another acknowledgement is due. `isSettled`: each
    /// unit is as wanted or past its limit.
    case published(ServiceName, fingerprint: Int, isSettled: Bool)
    /// Nothing is to be said of a service any more: it is not configured here, or not decided.
    case withdrawn(ServiceName)
    case woke
    /// The cluster has the acknowledgement with this fingerprint.
    case taken(fingerprint: Int)
    /// The service was withdrawn before its put was made.
    case obsolete
    /// The cluster wants a token, or a newer one.
    case loginNeeded
    /// No member has taken it, or another one of a pause of `retryAfter`; `isRefused`: more attempts give no right.
    case failed(retryAfter: Duration?, isRefused: Bool)
}

/// What to do for the acknowledgements.
package enum AcknowledgementEffect: Hashable, Sendable {
    /// Put the acknowledgement of the present state of a service; it is said again within `period`. Only one with
    /// `mayLogIn` may log in.
    case put(ServiceName, mayLogIn: Bool)
    /// Wake the machine at this time, and not at the one before; nil for never.
    case sleep(Boottime?)
}

/// Decides when the acknowledgement of a service is put into etcd: within a minute after its units are as wanted or
/// past their limit; again every 12 to 15 minutes; and after a failure with a growing wait.
///
/// One put is in flight at a time, and a service waits once, so a host has at most as many puts waiting as services.
/// No acknowledgement is kept: a put says what is published at its own moment. The waits are random, because the hosts
/// of a fleet obey at the same time, and because a cluster checks only 18 to 200 passwords a second.
package struct AcknowledgementMachine: Sendable {
    /// What the cluster knows of a service, and when it is told next.
    private struct Entry: Hashable, Sendable {
        /// What was published last.
        var published: Int
        var isSettled: Bool
        /// What the cluster has; nil before the first put of this run.
        var taken: Int?
        /// When the put is due at the latest that tells of a change; nil without one.
        var changeLimit: Boottime?
        /// When the acknowledgement is repeated; nil before the first.
        var repeatAt: Boottime?
        var dueAt: Boottime
        /// Whether `dueAt` was chosen after the units were as wanted.
        var isDueAsSettled = false

        var isWaiting: Bool { taken != published }
    }

    private var entries: [ServiceName: Entry] = [:]
    private var queue = MomentQueue()
    private var inFlight: (service: ServiceName, since: Boottime)?
    /// The back-off of the cluster: no put begins earlier.
    private var restUntil: Boottime?
    private var mayLogIn = false
    private var asleepUntil: Boottime?
    private var random: SeededRandom
    /// How many puts have failed since the last that was taken.
    package private(set) var failures = 0

    /// A machine of no services. `seed` makes the waits of this host differ from those of others.
    package init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// How many services have something to tell that the cluster does not know.
    package private(set) var waiting = 0

    /// Whether anything is to be said of a service.
    package func has(_ service: ServiceName) -> Bool { entries[service] != nil }

    /// Handles an event, and says what to do now.
    package mutating func handle(
        _ event: AcknowledgementEvent, at now: Boottime
    ) -> [AcknowledgementEffect] {
        switch event {
        case .published(let service, let fingerprint, let isSettled):
            publish(service, fingerprint, isSettled, at: now)
        case .withdrawn(let service): set(service, nil)
        case .woke: asleepUntil = nil
        case .taken(let fingerprint):
            guard let (service, since) = finish() else { break }
            (failures, restUntil, mayLogIn) = (0, nil, false)
            guard var entry = entries[service] else { break }
            entry.taken = fingerprint
            (entry.changeLimit, entry.isDueAsSettled) = (nil, false)
            let repeatAt = since + Self.period.scaled(by: factor(in: 0.8...1))
            (entry.repeatAt, entry.dueAt) = (repeatAt, repeatAt)
            set(service, entry)
            requeue(service)
            publish(service, entry.published, entry.isSettled, at: now)
        case .obsolete: _ = finish()
        case .loginNeeded:
            guard let (service, _) = finish() else { break }
            if mayLogIn { return handleFailure(of: service, nil, isRefused: true, at: now) }
            // After a restart of the cluster all tokens are void, and every host asks for a new one. Perhaps the next
            // poll of the flags brings one.
            mayLogIn = true
            restUntil = now + Self.loginSpread.scaled(by: factor(in: 0...1))
            requeue(service)
        case .failed(let retryAfter, let isRefused):
            guard let (service, _) = finish() else { break }
            return handleFailure(of: service, retryAfter, isRefused: isRefused, at: now)
        }
        return putDue(at: now)
    }

    private mutating func publish(
        _ service: ServiceName, _ fingerprint: Int, _ isSettled: Bool, at now: Boottime
    ) {
        var entry =
            entries[service] ?? Entry(published: fingerprint, isSettled: isSettled, dueAt: now)
        (entry.published, entry.isSettled) = (fingerprint, isSettled)
        let before = entries[service]?.dueAt
        if entry.taken == fingerprint, let repeatAt = entry.repeatAt {
            // It is as the cluster knows it, perhaps again.
            (entry.changeLimit, entry.isDueAsSettled) = (nil, false)
            entry.dueAt = repeatAt
        } else {
            let limit =
                entry.changeLimit ?? now + Self.limit + Self.spread.scaled(by: factor(in: 0...1))
            entry.changeLimit = limit
            if !isSettled {
                (entry.dueAt, entry.isDueAsSettled) = (limit, false)
            } else if !entry.isDueAsSettled {
                entry.dueAt = min(limit, now + Self.spread.scaled(by: factor(in: 0...1)))
                entry.isDueAsSettled = true
            }
        }
        set(service, entry)
        if entry.dueAt != before { requeue(service) }
    }

    private mutating func set(_ service: ServiceName, _ entry: Entry?) {
        let before = entries[service]
        entries[service] = entry
        waiting += (entry?.isWaiting == true ? 1 : 0) - (before?.isWaiting == true ? 1 : 0)
    }

    /// The put has ended; nil if none was in flight.
    private mutating func finish() -> (service: ServiceName, since: Boottime)? {
        defer { inFlight = nil }
        return inFlight
    }

    /// The service waits, in front of what became due later.
    private mutating func requeue(_ service: ServiceName) {
        guard let entry = entries[service] else { return }
        queue.insert(service, at: entry.dueAt)
        // Moments that were put off are left in the queue until they come, but not without a limit.
        guard queue.count > 64 + 2 * entries.count else { return }
        queue = MomentQueue()
        for (service, entry) in entries where inFlight?.service != service {
            queue.insert(service, at: entry.dueAt)
        }
    }

    private mutating func handleFailure(
        of service: ServiceName, _ retryAfter: Duration?, isRefused: Bool, at now: Boottime
    ) -> [AcknowledgementEffect] {
        failures += 1
        mayLogIn = false
        restUntil = now + wait(retryAfter, isRefused: isRefused)
        requeue(service)
        return putDue(at: now)
    }

    /// Begins the put that is due, or sleeps until one is.
    private mutating func putDue(at now: Boottime) -> [AcknowledgementEffect] {
        guard inFlight == nil else { return sleep(until: nil) }
        while let (moment, service) = queue.first {
            guard let entry = entries[service], entry.dueAt == moment else {
                queue.removeFirst()
                continue
            }
            let start = max(moment, restUntil ?? moment)
            guard start <= now else { return sleep(until: start) }
            queue.removeFirst()
            inFlight = (service, now)
            return [.put(service, mayLogIn: mayLogIn)] + sleep(until: nil)
        }
        return sleep(until: nil)
    }

    private mutating func sleep(until moment: Boottime?) -> [AcknowledgementEffect] {
        guard moment != asleepUntil else { return [] }
        asleepUntil = moment
        return [.sleep(moment)]
    }

    /// The wait after a failure: half of a ceiling to all of it. The ceiling doubles from 2 s to 5 min.
    private mutating func wait(_ retryAfter: Duration?, isRefused: Bool) -> Duration {
        let steps = isRefused ? Self.mostSteps : min(failures, Self.mostSteps)
        let ceiling = min(Self.longestWait, .seconds(1 << steps))
        let own = ceiling.scaled(by: factor(in: 0.5...1))
        guard let retryAfter else { return own }
        return max(
            own, min(max(retryAfter, .zero), Self.longestAsked).scaled(by: factor(in: 1...1.1)))
    }

    private mutating func factor(in range: ClosedRange<Double>) -> Double {
        Double.random(in: range, using: &random)
    }

    /// Between two puts of a service at most, while the cluster takes them.
    package static let period: Duration = .seconds(15 * 60)
    /// How the puts of a fleet are spread after its units have obeyed.
    private static let spread: Duration = .seconds(60)
    /// How the logins of a fleet are spread.
    private static let loginSpread: Duration = .seconds(60)
    /// How long a put waits for units that are on their way.
    private static let limit: Duration = .seconds(120)
    private static let longestWait: Duration = .seconds(5 * 60)
    private static let longestAsked: Duration = .seconds(3600)
    private static let mostSteps = 9
}

/// Services by the moments at which something is due, the earliest first: a binary heap.
private struct MomentQueue: Sendable {
    typealias Element = (moment: Boottime, service: ServiceName)

    private var heap: [Element] = []

    var first: Element? { heap.first }
    var count: Int { heap.count }

    mutating func insert(_ service: ServiceName, at moment: Boottime) {
        var child = heap.count
        heap.append((moment, service))
        while child > 0, heap[child].moment < heap[(child - 1) / 2].moment {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func removeFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            let children = (2 * parent + 1..<2 * parent + 3).clamped(to: heap.indices)
            guard let least = children.min(by: { heap[$0].moment < heap[$1].moment }),
                heap[least].moment < heap[parent].moment
            else { return }
            heap.swapAt(least, parent)
            parent = least
        }
    }
}
