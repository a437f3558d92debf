import CivilTime
import Decision
import JSON

extension Method {
    /// Answered at once, also before the first decision: it shows which sources the decision waits
    /// for.
    static let sources = Method(
        name: "Sources", access: .reading,
        declaration: """
            # One source: seconds since it confirmed its flags, seconds until the next poll (null
            # while a fetch is in flight), why the last fetch brought nothing, and who follows it.
            type Source (
              name: string,
              age: ?int,
              next_poll: ?int,
              problem: ?string,
              services: []string
            )

            # The sources that are followed. Answered at once, also before the first decision.
            method Sources() -> (sources: []Source)
            """
    ) { (request) in
        let daemon = request.daemon
        let views = daemon.overview.sources
        return .now(["sources": .array(views.map { .object(daemon.json(of: $0)) })])
    }
}

extension ControllableDaemon {
    /// A `Source` of the interface.
    func json(of source: Overview.SourceView) -> JSON.Object {
        [
            "name": .string(source.name.text),
            "age": .optional(source.age?.wholeSeconds),
            "next_poll": .optional(source.nextPoll?.wholeSeconds),
            "problem": .optional(source.problem),
            "services": .names(followers(of: source.name)),
        ]
    }
}
