import Decision
import JSON

extension Method {
    static let forget = Method(
        name: "Forget", parameters: ["source", "versionReason"],
        declaration: """
            # Drops the stored flags of a source and the highest version in them, and asks it anew.
            # With 'versionReason' it drops the highest version of its signed documents too: any older
            # one may be accepted again. 'services' are those that follow it: each keeps its state until the source has
            # answered, at most for its first_timeout.
            method Forget(source: string, versionReason: ?string, sudoUser: ?string)
              -> (services: []string)
            """
    ) { (request) throws(MethodError) in
        let daemon = request.daemon
        let source = try daemon.source(request.parameters.string("source"))
        let event = Event.forget(
            source, by: request.author,
            versionCause: try request.parameters.optionalString("versionReason"))
        daemon.post(event)
        return .settled(daemon) {
            ["services": .names(daemon.machine.followers(of: source))]
        }
    }
}
