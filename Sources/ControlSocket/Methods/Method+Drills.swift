import CivilTime
import Decision
import JSON

extension Method {
    /// Answered at once.
    static let drills = Method(
        name: "Drills", access: .reading, parameters: ["services"],
        declaration: """
            # The last drill of a service: when it ended, why it failed (null if it went well), and when the
            # last one ended that went well.
            type Drill (service: string, at: string, problem: ?string, last_good: ?string)

            # The last drills of these services, or of all. A service without a drill is left out.
            method Drills(services: ?[]string) -> (drills: []Drill)
            """
    ) { (request) throws(MethodError) in
        let daemon = request.daemon
        let names = try daemon.services(request.parameters.strings("services"))
        return .now(
            ReplyParameters([:]).list("drills", of: names) { name in
                daemon.machine.lastDrill(of: name).map { .object($0.json(of: name)) }
            })
    }

    static let noteDrill = Method(
        name: "NoteDrill", access: .acting, parameters: ["service", "problem"],
        declaration: """
            # Notes that a drill of a service has ended now: well, or with this problem. It is kept over
            # restarts and reboots.
            method NoteDrill(service: string, problem: ?string, sudoUser: ?string) -> (drill: ?Drill)
            """
    ) { (request) throws(MethodError) in
        let daemon = request.daemon
        let name = try daemon.service(request.parameters.string("service")).name
        let problem = try request.parameters.optionalString("problem")?.printable(limit: 500)
        let result = DrillResult(at: daemon.now.wall, problem: problem)
        let event = Event.drillEnded(name, result, by: request.author)
        daemon.post(event)
        return .after(.event(event)) {
            let drill = daemon.machine.lastDrill(of: name)
            return ["drill": drill.map { .object($0.json(of: name)) } ?? .null]
        }
    }
}

extension LastDrill {
    /// A `Drill` of the interface.
    fileprivate func json(of service: ServiceName) -> JSON.Object {
        [
            "service": .string(service.text),
            "at": .string(Zone.utc.rfc3339(result.at)),
            "problem": .optional(result.problem),
            "last_good": .optional(lastGood.map(Zone.utc.rfc3339)),
        ]
    }
}
