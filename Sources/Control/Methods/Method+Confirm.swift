import Decision
import JSON

extension Method {
    static let confirm = Method(
        "Confirm", .acting, parameters: ["services"],
        declaration: """
            # Lets these services close, or all, where the host guard has held them because too many
            # would have closed at once. 'confirmed' are those that were held.
            method Confirm(services: ?[]string) -> (confirmed: []string, services: []Service)
            """
    ) { (request) throws(MethodError) in
        let daemon = request.daemon
        let names = try daemon.services(request.parameters.strings("services"))
        let held = names.filter(daemon.machine.isHeld)
        let event = Event.confirm(held, by: request.author)
        daemon.post(event)
        var isTaken = false
        return .later { (trigger) in
            if trigger == .event(event) { isTaken = true }
            guard isTaken, let states = daemon.decided(names) else { return .waiting }
            return .done(["confirmed": .names(held), "services": .array(states)])
        }
    }
}
