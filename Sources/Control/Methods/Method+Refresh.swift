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
            method Refresh(source: ?string) -> (fetched: []Fetched, services: []Service)
            """
    ) { (request) throws(MethodError) in
        let daemon = request.daemon
        let sources: [SourceName] =
            if let name = try request.parameters.optionalString("source") {
                [try daemon.source(name)]
            } else {
                daemon.overview.sources.map(\.name)
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
    private enum Step {
        /// The request to fetch is in the queue.
        case posted
        case fetching
        case ended(outcome: String, problem: String?)
    }

    private var steps: [(source: SourceName, step: Step)]
    /// When the current flags of each source were fetched.
    private let before: [SourceName: Instant]

    init(of sources: [SourceName], _ overview: Overview) {
        steps = sources.map { ($0, .posted) }
        before = Dictionary(
            overview.sources.compactMap { view in view.fetchedAt.map { (view.name, $0) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Whether a fetch of each source that began after the call has ended. A fetch that was in
    /// flight when the call came does not count: another fetch follows it at once.
    mutating func isDone(after trigger: ReplyTrigger, _ overview: Overview) -> Bool {
        for index in steps.indices {
            let source = steps[index].source
            guard let view = overview.sources.first(where: { $0.name == source }) else {
                steps[index].step = .ended(outcome: "failed", problem: "it is no longer configured")
                continue
            }
            switch (steps[index].step, trigger) {
            case (.posted, .event(.hinted(source))):
                steps[index].step = .fetching
            case (.fetching, .event(.fetched(source, let outcome, _))):
                guard view.nextPoll != nil else { break }
                let isNew = view.fetchedAt != before[source]
                steps[index].step = .ended(
                    outcome: outcome.word(isNew: isNew), problem: view.problem)
            default:
                break
            }
        }
        return steps.allSatisfy { if case .ended = $0.step { true } else { false } }
    }

    var outcomes: [JSON.Value] {
        steps.map { source, step in
            guard case .ended(let outcome, let problem) = step else { return .null }
            return .object([
                "source": .string(source.text), "outcome": .string(outcome),
                "problem": .optional(problem),
            ])
        }
    }
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
