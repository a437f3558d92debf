import CivilTime
import Decision
import JSON

extension Method {
    static let noteDrill = Method(
        name: "NoteDrill", parameters: ["service", "problem", "stopped"],
        declaration: """
            # The last drill of a service: when it ended, why it failed (null if it went well), and when the
            # last one ended that went well. Of a service with drill_every also that time in seconds, and
            # which units drills have stopped; null if no drill has told.
            type Drill (
              service: string,
              at: ?string,
              problem: ?string,
              last_good: ?string,
              every: ?int,
              stopped: ?[]string
            )

            # Notes that a drill of a service has ended now: well, or with this problem. It is kept over
            # restarts and reboots, as are the units that it has stopped where the service has drill_every.
            method NoteDrill(
              service: string,
              problem: ?string,
              stopped: ?[]string,
              sudoUser: ?string
            ) -> (drill: ?Drill)
            """
    ) { (request) throws(MethodError) in
        let daemon = request.daemon
        let name = try daemon.service(request.parameters.string("service")).name
        let problem = try request.parameters.optionalString("problem")?.printable(limit: 500)
        let units = try request.parameters.strings("stopped").prefix(500)
        let result = DrillResult(
            at: daemon.now.wall, problem: problem,
            stopped: daemon.drillIntervals[name] == nil ? nil : units.compactMap { UnitName($0) })
        let event = Event.drillEnded(name, result, by: request.author)
        daemon.post(event)
        return .settled(daemon) {
            ["drill": daemon.drill(of: name) ?? .null]
        }
    }
}

extension ControllableDaemon {
    /// A `Drill` of the interface; nil for a service that had none and asks for none.
    fileprivate func drill(of service: ServiceName) -> JSON.Value? {
        let (last, every) = (machine.lastDrill(of: service), drillIntervals[service])
        guard last != nil || every != nil else { return nil }
        let units = every == nil ? nil : last?.result.stopped
        return .object([
            "service": .string(service.text),
            "at": .optional(last.map { Zone.utc.rfc3339($0.result.at) }),
            "problem": .optional(last?.result.problem),
            "last_good": .optional(last?.lastGood.map(Zone.utc.rfc3339)),
            "every": .optional(every?.wholeSeconds),
            "stopped": units.map { .strings($0.map(\.text)) } ?? .null,
        ])
    }
}
