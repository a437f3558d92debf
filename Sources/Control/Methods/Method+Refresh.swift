import CivilTime
import Decision
import JSON

extension Method {
    static let refresh = Method(
        "Refresh", .acting, parameters: ["source"],
        declaration: """
            # How the fetch of one source ended: 'changed', 'unchanged', or 'failed' with a problem.
            type Fetched (source: string, outcome: string, problem: ?string)

            # Fetches a source now, or all of them, and answers when that has ended. 'services' are
            # those that follow them.
            method Refresh(source: ?string) -> (fetched: []Fetched, services: []Service)
            """
    ) { (request) throws(MethodError) in
        let subject = request.subject
        let sources: [SourceName] =
            if let name = try request.parameters.optionalString("source") {
                [try subject.source(name)]
            } else {
                subject.overview.sources.map(\.name)
            }
        for source in sources { subject.post(.hinted(source)) }
        var refresh = Refresh(of: sources, subject.overview)
        return .later { (occasion) throws(MethodError) in
            guard refresh.isDone(after: occasion, subject.overview) else { return .waiting }
            let followers = Set(sources.flatMap(subject.followers))
            guard let states = subject.decided(followers.sorted()) else { return .waiting }
            return .done(["fetched": .array(refresh.outcomes), "services": .array(states)])
        }
    }
}

/// The fetches that one call waits for.
private struct Refresh {
    private enum Step {
        /// The order stands in the queue.
        case posted
        case fetching
        case ended(outcome: String, problem: String?)
    }

    private var steps: [(source: SourceName, step: Step)]
    /// When the flags came that are known by now.
    private let before: [SourceName: Instant]

    init(of sources: [SourceName], _ overview: Overview) {
        steps = sources.map { ($0, .posted) }
        before = Dictionary(
            overview.sources.compactMap { view in view.fetchedAt.map { (view.name, $0) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Whether every fetch has ended that began after the order was given. One that was under way by
    /// then ends too, and is followed by another one at once: it is that one which counts.
    mutating func isDone(after occasion: Occasion, _ overview: Overview) -> Bool {
        for index in steps.indices {
            let source = steps[index].source
            guard let view = overview.sources.first(where: { $0.name == source }) else {
                steps[index].step = .ended(outcome: "failed", problem: "it is no longer configured")
                continue
            }
            switch (steps[index].step, occasion) {
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
                "problem": problem.map { .string($0) } ?? .null,
            ])
        }
    }
}

extension Outcome {
    /// The word of `Fetched`. The same flags may come whole, and flags that nobody can read may come.
    fileprivate func word(isNew: Bool) -> String {
        switch self {
        case .answer: isNew ? "changed" : "unchanged"
        case .unchanged: "unchanged"
        case .failure: "failed"
        }
    }
}
