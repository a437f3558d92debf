import CivilTime
import Decision
import JSON

extension Method {
    /// Answered at once: before the first decision it shows which sources that waits for.
    static let sources = Method(
        name: "Sources", access: .reading,
        declaration: """
            # One source: seconds since it confirmed its flags, seconds until the next poll (null
            # while a fetch is in flight), why the last fetch brought nothing, the warnings about it,
            # its flags and its server's clock, and who follows it.
            type Source (
              name: string,
              age: ?int,
              next_poll: ?int,
              problem: ?string,
              warnings: []string,
              services: []string
            )

            # The process of the daemon: how many descriptors it has open, and how many it may have.
            # The control socket has fewer places for readers where that is little.
            type Process (descriptors: ?int, descriptor_limit: int)

            # The sources that are followed. Answered at once, also before the first decision.
            method Sources() -> (sources: []Source, process: Process)
            """
    ) { (request) in
        let daemon = request.daemon
        return .now(
            ReplyParameters([:])
                .list("sources", of: daemon.machine.plan.sources) { daemon.json(of: $0.name) }
                .value("process", daemon.process))
    }
}

extension ControllableDaemon {
    /// A `Process` of the interface.
    var process: JSON.Value {
        let (used, limit) = descriptors
        return .object([
            "descriptors": .optional(used.map(Int64.init)),
            "descriptor_limit": .number(Number(Int64(limit))),
        ])
    }

    /// A `Source` of the interface; nil if the source is no longer configured.
    func json(of name: SourceName) -> JSON.Value? {
        guard let source = machine.view(of: name, at: now) else { return nil }
        return .object([
            "name": .string(source.name.text),
            "age": .optional(source.age?.wholeSeconds),
            "next_poll": .optional(source.nextPoll?.wholeSeconds),
            "problem": .optional(source.problem),
            "warnings": .strings(source.warnings),
            "services": .names(machine.followers(of: source.name)),
        ])
    }
}
