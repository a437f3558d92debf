import CivilTime
package import Decision
package import JSON

extension Method {
    /// Answered at once, also before the first decision.
    static let problems = Method(
        name: "Problems", access: .reading, parameters: ["services"],
        declaration: """
            # Something that is wrong now. 'kind' is a word of killswitchd(8), 'text' the sentence about
            # it, 'advice' what to do. 'services' are those of the service or the unit; empty for a
            # source, which is 'source', and for the host. 'alarm': monitoring is told of it.
            type Problem (
              kind: string,
              services: []string,
              source: ?string,
              unit: ?string,
              since: ?string,
              text: string,
              advice: string,
              alarm: bool
            )

            # Every problem that concerns one of these services, or any, and those of the host, the
            # worst first. Answered at once, also before the first decision.
            method Problems(services: ?[]string) -> (problems: []Problem)
            """
    ) { (request) throws(MethodError) in
        let daemon = request.daemon
        let named = try request.parameters.strings("services")
        let chosen = named.isEmpty ? nil : try daemon.servicesOrOrphans(named)
        var condition = daemon.condition
        let (used, limit) = daemon.descriptors
        condition.descriptors = used.map { ($0, limit) }
        let references = daemon.machine.overview(at: daemon.now, condition)
            .problemReferences { chosen?.contains($0) ?? true }
        return .now(
            ReplyParameters([:]).list("problems", of: references) {
                daemon.overview.problem($0).map { .object($0.json) }
            })
    }
}

extension Problem {
    /// A `Problem` of the interface.
    package var json: JSON.Object {
        [
            "kind": .string(kind.rawValue),
            "services": .names(subject.services),
            "source": .optional(subject.source?.text),
            "unit": .optional(subject.unit?.text),
            "since": .optional(since.map(Zone.utc.rfc3339)),
            "text": .string(sentence),
            "advice": .string(advice),
            "alarm": .bool(isAlarm),
        ]
    }
}
