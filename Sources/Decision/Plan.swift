package import JSON

/// A source as the machine knows it: its interval, its time limit and its defaults.
package struct SourcePlan: Hashable, Sendable {
    package var name: SourceName
    package var interval: Duration
    /// The longest wait after failures, unless the interval is longer; nil for `Schedule.usualBackOff`.
    package var maxBackoff: Duration?
    /// The time limit of one fetch. A longer fetch counts as lost: see `Machine.isProgressing`.
    package var timeout: Duration
    /// The values of keys that the source does not hold.
    package var defaults: JSON.Object
    /// The keys of its flags that some switch or value of the configuration reads. See `Plan.knownSources`.
    package fileprivate(set) var known: Set<ExactString> = []
    /// For whom its documents have to be signed; nil for a source without signers.
    package var audience: String?
    /// Its mirrors, by their addresses as others may see them, in the order of the configuration; empty without.
    package var mirrors: [String]
    /// Whether its answers may say what time it is: all but those of a file and of etcd.
    package var tellsTime: Bool
    /// Why its interval is shorter than its server likes, as a clause; nil if it is not.
    package var paceWarning: String?

    /// Whether it has signers, so that nothing counts that nobody has signed.
    var isSigned: Bool { audience != nil }

    /// A source that is polled every `interval`.
    package init(
        name: SourceName, interval: Duration, timeout: Duration = .seconds(30),
        maxBackoff: Duration? = nil, defaults: JSON.Object = JSON.Object(), audience: String? = nil,
        mirrors: [String] = [], tellsTime: Bool = true
    ) {
        self.name = name
        self.interval = interval
        self.timeout = timeout
        self.maxBackoff = maxBackoff
        self.defaults = defaults
        self.audience = audience
        self.mirrors = mirrors
        self.tellsTime = tellsTime
    }
}

/// The configuration as the machine knows it. Addresses and credentials are the concern of the sources.
package struct Plan: Hashable, Sendable {
    package var sources: [SourcePlan]
    package var services: [Service]
    package var guardLimits: GuardLimits
    /// The guard of each service that asks one before its steps.
    package var guards: [ServiceName: GuardName] = [:]
    /// The part of every order in which this host is.
    package var slots: SlotRange

    /// A plan in the order of the configuration.
    package init(
        sources: [SourcePlan], services: [Service], guardLimits: GuardLimits = GuardLimits(),
        slots: SlotRange = .all
    ) {
        self.sources = sources
        self.services = services
        self.guardLimits = guardLimits
        self.slots = slots
    }

    /// The sources, with the keys of each that somebody reads. Those of other services stay: a simulation has one.
    package var knownSources: [SourcePlan] {
        let keys = keysRead
        return sources.map { source in
            var source = source
            source.known.formUnion(keys[source.name] ?? [])
            return source
        }
    }

    /// The keys of each source that some switch or value reads.
    package var keysRead: [SourceName: Set<ExactString>] {
        var keys: [SourceName: Set<ExactString>] = [:]
        for service in services {
            for plan in service.switches {
                keys[plan.source, default: []].formUnion(plan.format.keys.map(ExactString.init))
            }
            for value in service.remote {
                keys[value.source, default: []].insert(ExactString(value.key))
            }
        }
        return keys
    }
}

/// How many services may close within which time before the host guard holds others open.
package struct GuardLimits: Hashable, Sendable {
    /// How many services may close; nil is any number.
    package var count: Int?
    /// Closings that are nearer to each other are counted together.
    package var within = Duration.seconds(60)
    /// How long before it comes true an end or a window has to be known, so that it does not count.
    package var notice = Duration.seconds(600)

    /// The defaults of the configuration, with this count.
    package init(count: Int? = nil) { self.count = count }
}

/// The positions of the sources and services of a plan by their names.
struct PlanIndex {
    private let sourcePositions: [SourceName: Int]
    private let services: [ServiceName: Int]
    /// The switches that read each source, in the order of the services: an answer costs its readers alone.
    let switches: [[SwitchPosition]]
    /// The source of each switch of each service; nil if the plan has none of that name.
    let sources: [[Int?]]
    /// Whether any source has mirrors.
    let hasMirrors: Bool

    /// The index of `plan`; of two equal names the first counts.
    init(_ plan: Plan) {
        let sources = Dictionary(zip(plan.sources.map(\.name), 0...)) { first, _ in first }
        sourcePositions = sources
        self.sources = plan.services.map { $0.switches.map { sources[$0.source] } }
        services = Dictionary(zip(plan.services.map(\.name), 0...)) { first, _ in first }
        var readers = plan.sources.map { _ in [SwitchPosition]() }
        for (service, configured) in plan.services.enumerated() {
            for (position, plan) in configured.switches.enumerated() {
                guard let source = sources[plan.source] else { continue }
                readers[source].append(SwitchPosition(service: service, position: position))
            }
        }
        self.switches = readers
        hasMirrors = plan.sources.contains { !$0.mirrors.isEmpty }
    }

    /// The position of a source; nil if the plan has no source of that name.
    func source(_ name: SourceName) -> Int? { sourcePositions[name] }

    /// The position of a service; nil if the plan has no service of that name.
    func service(_ name: ServiceName) -> Int? { services[name] }

    /// Whether a write concerns a source or a service that is in this plan and not in `next`.
    func loses(_ operation: WriteOperation, in next: PlanIndex) -> Bool {
        switch operation {
        case .storeFlags(let name), .storeVersion(let name), .dropVersion(let name),
            .reserveVersion(let name), .markConfirmed(let name):
            source(name) != nil && next.source(name) == nil
        case .publish(let name): service(name) != nil && next.service(name) == nil
        case .storeLedger, .storeOverrides: false
        }
    }
}

/// One switch of one service, by their positions in the plan.
struct SwitchPosition {
    let service: Int
    let position: Int
}
