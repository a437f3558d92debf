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
        let names = try daemon.services(request.parameters.strings("services"))
        return try .when { () throws(MethodError) in
            guard let states = daemon.decided(names) else { return nil }
            let sources = daemon.sources(of: names)
            let views = daemon.overview.sources.filter { sources.contains($0.name) }
            return [
                "services": .array(states),
                "sources": .array(views.map { .object(daemon.json(of: $0)) }),
                "refused": .optional(daemon.refusal),
            ]
        }
    }
}
