import Decision
import JSON

extension Method {
    static let forget = Method(
        name: "Forget", access: .acting, parameters: ["source"],
        declaration: """
            # Drops the stored flags of a source and the highest version that was accepted, and asks
            # it anew. 'services' are those that follow it: each keeps its state until the source has
            # answered, at most for its first_timeout.
            method Forget(source: string, sudoUser: ?string) -> (services: []string)
            """
    ) { (request) throws(MethodError) in
        let daemon = request.daemon
        let source = try daemon.source(request.parameters.string("source"))
        let event = Event.forget(source, by: request.author)
        daemon.post(event)
        return .after(.event(event)) { ["services": .names(daemon.followers(of: source))] }
    }
}
