import CivilTime
import Decision
import JSON

extension Method {
    static let refresh = Method(
        name: "Refresh", access: .acting, parameters: ["source"],
        declaration: """
            # How the fetch of one source ended: 'changed', 'unchanged', or 'failed' with a problem.
            type Fetched (source: string, outcome: string, problem: ?string)

            # Fetches a source now, or all of them, and answers when that has ended. 'services' are
            # those that follow them.
            method Refresh(source: ?string, sudoUser: ?string) -> (
              fetched: []Fetched,
              services: []Service
            )
            """
    ) { (request) throws(MethodError) in
        let daemon = request.daemon
        let sources: [SourceName] =
            if let name = try request.parameters.optionalString("source") {
                [try daemon.source(name)]
            } else {
                daemon.machine.plan.sources.map(\.name)
            }
        for source in sources { daemon.post(.hinted(source)) }
        var refresh = PendingFetches(of: sources, daemon.overview)
        return .later { (trigger) throws(MethodError) in
            guard refresh.isDone(after: trigger, daemon.overview) else { return nil }
            let followers = Set(sources.flatMap(daemon.followers))
            guard let states = daemon.decided(followers.sorted()) else { return nil }
            return .last(["fetched": .array(refresh.outcomes), "services": .array(states)])
        }
    }
}

/// The fetches that a call of `Refresh` waits for.
private struct PendingFetches {
    private let sources: [SourceName]
    /// When the current flags of each source were fetched.
    private let before: [SourceName: Instant]
    /// The sources whose request to fetch has left the queue.
    private var begun: Set<SourceName> = []
    private var ended: [SourceName: JSON.Value] = [:]

    init(of sources: [SourceName], _ overview: Overview) {
        self.sources = sources
        let chosen = Set(sources)
        before = overview.sources.reduce(into: [:]) { known, source in
            if chosen.contains(source.name) { known[source.name] = source.fetchedAt }
        }
    }

    /// Whether a fetch of each source that began after the call has ended. A fetch that was in
    /// flight when the call came does not count: another fetch follows it at once.
    mutating func isDone(after trigger: ReplyTrigger, _ overview: Overview) -> Bool {
        for source in sources {
            guard let view = overview.sources.first(where: { $0.name == source }) else {
                end(source, "failed", "it is no longer configured")
                continue
            }
            switch trigger {
            case .event(.hinted(source)): begun.insert(source)
            case .event(.fetched(source, let outcome, _)):
                let isOver = begun.contains(source) && view.nextPoll != nil
                guard isOver, ended[source] == nil else { break }
                let isNew = view.fetchedAt != before[source]
                end(source, outcome.word(isNew: isNew), view.problem)
            case .event, .rejected, .settled, .gatesHandled, .writable: break
            }
        }
        return ended.count == sources.count
    }

    private mutating func end(_ source: SourceName, _ outcome: String, _ problem: String?) {
        ended[source] = .object([
            "source": .string(source.text), "outcome": .string(outcome),
            "problem": .optional(problem),
        ])
    }

    var outcomes: [JSON.Value] { sources.compactMap { ended[$0] } }
}

extension Outcome {
    /// The outcome in `Fetched`. An answer may repeat the same flags, or be unreadable: that is unchanged.
    fileprivate func word(isNew: Bool) -> String {
        switch self {
        case .answer: isNew ? "changed" : "unchanged"
        case .unchanged: "unchanged"
        case .failure: "failed"
        }
    }
}
