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
