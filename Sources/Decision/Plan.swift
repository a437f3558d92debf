package import JSON

/// A source as far as the decision knows it: when it is asked, and how long that may take.
package struct SourcePlan: Hashable, Sendable {
    package var name: SourceName
    package var interval: Duration
    /// A fetch that takes longer than this is not going on any more.
    package var timeout: Duration
    /// What a key is worth that the source does not hold.
    package var defaults: JSON.Object

    package init(
        name: SourceName, interval: Duration, timeout: Duration = .seconds(30),
        defaults: JSON.Object = JSON.Object()
    ) {
        self.name = name
        self.interval = interval
        self.timeout = timeout
        self.defaults = defaults
    }
}

/// Everything the machine runs on: what the configuration says, less how flags are fetched.
package struct Plan: Hashable, Sendable {
    package var sources: [SourcePlan]
    package var services: [Service]
    /// How many services may close for one cause; nil is any number.
    package var closeAtOnce: Int?

    package init(sources: [SourcePlan], services: [Service], closeAtOnce: Int? = nil) {
        self.sources = sources
        self.services = services
        self.closeAtOnce = closeAtOnce
    }
}

/// The positions of the sources and services of a plan by their names.
struct PlanIndex: Hashable, Sendable {
    private let sources: [SourceName: Int]
    private let services: [ServiceName: Int]

    init(_ plan: Plan) {
        sources = Dictionary(
            zip(plan.sources.map(\.name), 0...), uniquingKeysWith: { first, _ in first })
        services = Dictionary(
            zip(plan.services.map(\.name), 0...), uniquingKeysWith: { first, _ in first })
    }

    /// The position of a source; nil where the plan has none of that name.
    func source(_ name: SourceName) -> Int? { sources[name] }

    /// The position of a service; nil where the plan has none of that name.
    func service(_ name: ServiceName) -> Int? { services[name] }

    /// Whether a write is about something that this plan has and `next` has not.
    func loses(_ operation: WriteOperation, in next: PlanIndex) -> Bool {
        switch operation {
        case .storeFlags(let name), .markConfirmed(let name):
            source(name) != nil && next.source(name) == nil
        case .publish(let name): service(name) != nil && next.service(name) == nil
        case .storeLedger, .storeOverrides: false
        }
    }
}

extension Plan {
    /// The switches that read each source, in the order of the services: found once for a plan, so
    /// that an answer costs in proportion to its readers alone.
    var readers: [SourceName: [SwitchPosition]] {
        var readers: [SourceName: [SwitchPosition]] = [:]
        for (service, configured) in services.enumerated() {
            for (position, plan) in configured.switches.enumerated() {
                readers[plan.source, default: []].append(
                    SwitchPosition(service: service, position: position))
            }
        }
        return readers
    }
}
