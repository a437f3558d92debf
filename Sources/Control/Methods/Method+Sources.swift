import CivilTime
import Decision
import JSON

extension Method {
    /// Never held: what is being waited for is just what it tells.
    static let sources = Method(
        "Sources", .reading,
        declaration: """
            # One source: seconds since it confirmed its flags, seconds until it is asked again (null
            # while it is being asked), why the last fetch brought nothing, and who follows it.
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
        let subject = request.subject
        let views = subject.overview.sources
        return .now(["sources": .array(views.map { .object(subject.json(of: $0)) })])
    }
}

extension Subject {
    /// A `Source` of the interface.
    func json(of source: Overview.SourceView) -> JSON.Object {
        [
            "name": .string(source.name.text),
            "age": source.age.map { .number(Number($0.wholeSeconds)) } ?? .null,
            "next_poll": source.nextPoll.map { .number(Number($0.wholeSeconds)) } ?? .null,
            "problem": source.problem.map { .string($0) } ?? .null,
            "services": .names(followers(of: source.name)),
        ]
    }
}
