import CivilTime
import Decision
import JSON

extension Method {
    /// Answered at once, also before the first decision.
    static let problems = Method(
        name: "Problems", access: .reading, parameters: ["services"],
        declaration: """
            # Something that is wrong now. 'kind' is a word of killswitchd(8), 'text' the sentence about
            # it, 'advice' what to do. 'services' are those of the service or the unit; empty for a
            # source, which is 'source', and for the host. 'alarm': monitoring is told of it.
            # 'disarms': a closing that came now might not take effect because of it.
            type Problem (
              kind: string,
              services: []string,
              source: ?string,
              unit: ?string,
              since: ?string,
              text: string,
              advice: string,
              alarm: bool,
              disarms: bool
            )

            # Every problem that concerns one of these services, or any, and those of the host, the
            # worst first. Answered at once, also before the first decision.
            method Problems(services: ?[]string) -> (problems: []Problem)
            """
    ) { (request) throws(MethodError) in
        let daemon = request.daemon
        let named = try request.parameters.strings("services")
        let chosen = named.isEmpty ? nil : try daemon.servicesOrOrphans(named)
        let (overview, now) = (daemon.overview, daemon.now)
        let findings = overview.findings { chosen?.contains($0) ?? true }
        return .now(
            ReplyParameters([:]).list("problems", of: findings) { .object($0.json(at: now)) })
    }
}
