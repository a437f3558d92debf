import Decision
import JSON

extension Method {
    /// Waits until each of the requested services has its first verdict.
    static let status = Method(
        name: "Status", access: .reading, parameters: ["services"],
        declaration: """
            # These services, or all of them, their sources, and why the configuration on disk is
            # refused where it is. Answered once each of the services is decided.
            method Status(services: ?[]string) -> (
              services: []Service,
              sources: []Source,
              refused: ?string
            )
            """
    ) { (request) throws(MethodError) in
        let daemon = request.daemon
        let named = try request.parameters.strings("services")
        let chosen = named.isEmpty ? nil : Set(try daemon.services(named))
        let isChosen = { (name: ServiceName) in chosen?.contains(name) ?? true }
        return .onChange { _ in
            let services = daemon.services
            guard daemon.areDecided(services, isChosen) else { return nil }
            let followed = chosen.map(daemon.sources(of:))
            return ReplyParameters([:])
                .list("services", of: services) { isChosen($0.name) ? daemon.json(of: $0) : nil }
                .list("sources", of: daemon.machine.plan.sources) {
                    followed?.contains($0.name) ?? true ? daemon.json(of: $0.name) : nil
                }
                .value("refused", .optional(daemon.condition.refusal))
        }
    }
}
