import CivilTime
import Decision
import JSON

extension Method {
    static let release = Method(
        name: "Release", parameters: ["service", "reason"],
        declaration: """
            # Ends an order of Force, so that the flags decide again. With a 'reason', only an order that
            # was given for this reason is ended. 'wasForced' is false if no order was ended. 'gate' is as in
            # the answer of Force. 'opensIn' are the seconds until the gate opens that the flags have opened
            # (min_closed, open_spread), and null if it does not wait.
            method Release(
              service: string,
              reason: ?string,
              sudoUser: ?string
            ) -> (service: Service, wasForced: bool, gate: ?Gate, opensIn: ?int)
            """
    ) { (request) throws(MethodError) in
        let daemon = request.daemon
        let service = try daemon.service(request.parameters.string("service"))
        let cause = try request.parameters.optionalString("reason")
        let event = Event.release(service.name, by: request.author, only: cause)
        let override = daemon.machine.publishedVerdict(of: service.name)?.verdict.override
        let wasForced = override.map { order in cause.map(order.isGiven(for:)) ?? true } ?? false
        daemon.post(event)
        return .settled(daemon) { () throws(MethodError) in
            guard daemon.isGateAnswered(service.name),
                let state = daemon.decided([service.name])
            else { return nil }
            guard let state = state.first else {
                throw .noSuchService(service.name.text, known: daemon.services.map(\.name))
            }
            let reason = daemon.machine.publishedVerdict(of: service.name)?.verdict.reason
            let wait = reason?.opensAt.map { max(.zero, $0 - daemon.now.wall) + .milliseconds(999) }
            return [
                "service": state, "wasForced": .bool(wasForced),
                "gate": daemon.gate(of: service.name).map(JSON.Value.object) ?? .null,
                "opensIn": .optional(wait?.wholeSeconds),
            ]
        }
    }
}
