import Decision
import JSON

extension Method {
    static let confirm = Method(
        name: "Confirm", parameters: ["services"],
        declaration: """
            # Lets these services close, or all, where the host guard has held them because too many
            # would have closed at once, and lets their steps come where a guard holds them. 'confirmed' are
            # those that were held.
            method Confirm(services: ?[]string, sudoUser: ?string) -> (
              confirmed: []string,
              services: []Service
            )
            """
    ) { (request) throws(MethodError) in
        let daemon = request.daemon
        let names = try daemon.services(request.parameters.strings("services"))
        let held = names.filter {
            daemon.machine.isHeld($0) || daemon.machine.awaitsGuard($0)
        }
        let event = Event.confirm(held, by: request.author)
        daemon.post(event)
        return .settled(daemon) {
            daemon.decided(names).map { ["confirmed": .names(held), "services": .array($0)] }
        }
    }
}
