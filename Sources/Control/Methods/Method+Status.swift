import Decision
import JSON

extension Method {
    /// Held until every service that is asked for has its first verdict.
    static let status = Method(
        "Status", .reading, parameters: ["services"],
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
        let subject = request.subject
        let names = try subject.services(request.parameters.strings("services"))
        return try .when { () throws(MethodError) in
            guard let states = subject.decided(names) else { return nil }
            let sources = subject.sources(of: names)
            let views = subject.overview.sources.filter { sources.contains($0.name) }
            return [
                "services": .array(states),
                "sources": .array(views.map { .object(subject.json(of: $0)) }),
                "refused": subject.refusal.map { .string($0) } ?? .null,
            ]
        }
    }
}
