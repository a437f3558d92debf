import CivilTime

extension Machine {
    /// Drops every answer of a source, what is stored of it and the highest version that was accepted,
    /// and asks it anew. As after a reload, its services keep their verdicts until it has answered, at
    /// most for `first_timeout`.
    mutating func forget(
        _ name: SourceName, by author: String, at now: Now, _ batch: inout Batch
    ) {
        guard let index = wiring.source(name) else { return }
        sources[index].answers = []
        sources[index].confirmation = .never
        for user in wiring.users(of: index) {
            services[user.service].switches[user.position] = SwitchState(
                awaitedSince: now.boot)
            services[user.service].isDue = true
        }
        batch.stores.append(.store(name, []))
        batch.notices.append(.forgotten(name, by: author))
        hint(name, at: now)
    }

    /// What was last published of a service; nil where nothing was yet.
    package func record(of name: ServiceName) -> Record? {
        wiring.service(name).flatMap { services[$0].record }
    }

    /// Whether a service has flags that take force at the next start, or when `activate` is ordered.
    package func isStaged(_ name: ServiceName) -> Bool {
        wiring.service(name).map { services[$0].switches.contains { $0.staged != nil } } ?? false
    }
}
