import Decision
import JSON

extension Method {
    static let activate = Method(
        name: "Activate", parameters: ["service"],
        declaration: """
            # Puts flags in force that wait for the next start, of one service or of all. 'activated'
            # are the services that had some.
            method Activate(service: ?string, sudoUser: ?string) -> (
              activated: []string,
              services: []Service
            )
            """
    ) { (request) throws(MethodError) in
        let daemon = request.daemon
        let name = try request.parameters.optionalString("service")
        let names = try daemon.services(name.map { [$0] } ?? [])
        let staged = names.filter(daemon.machine.isStaged)
        let event = Event.activate(name == nil ? nil : names.first)
        daemon.post(event)
        return .settled(daemon) {
            let activated = staged.filter { !daemon.machine.isStaged($0) }
            return daemon.decided(names)
                .map { ["activated": .names(activated), "services": .array($0)] }
        }
    }
}
