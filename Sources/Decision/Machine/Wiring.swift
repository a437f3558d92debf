/// Who uses what: found once for a plan, so that an answer costs in proportion to its users alone.
struct Wiring: Hashable, Sendable {
    /// One switch of one service, by their positions.
    struct User: Hashable, Sendable {
        let service: Int
        let position: Int
    }

    private let sources: [SourceName: Int]
    private let services: [ServiceName: Int]
    private let users: [[User]]

    init(_ plan: Plan) {
        sources = Dictionary(
            zip(plan.sources.map(\.name), 0...), uniquingKeysWith: { first, _ in first })
        services = Dictionary(
            zip(plan.services.map(\.name), 0...), uniquingKeysWith: { first, _ in first })
        var users = plan.sources.map { _ in [User]() }
        for (service, configured) in plan.services.enumerated() {
            for (position, plan) in configured.switches.enumerated() {
                guard let source = sources[plan.source] else { continue }
                users[source].append(User(service: service, position: position))
            }
        }
        self.users = users
    }

    /// The position of a source; nil where the plan has none of that name.
    func source(_ name: SourceName) -> Int? { sources[name] }

    /// The position of a service; nil where the plan has none of that name.
    func service(_ name: ServiceName) -> Int? { services[name] }

    /// Whether a deed is about something that this plan has and `next` has not.
    func loses(_ deed: Deed, in next: Wiring) -> Bool {
        switch deed {
        case .store(let name), .confirm(let name): source(name) != nil && next.source(name) == nil
        case .publish(let name): service(name) != nil && next.service(name) == nil
        case .remember, .keep: false
        }
    }

    /// The switches that read the source at this position, in the order of the services.
    func users(of source: Int) -> [User] { users[source] }
}
