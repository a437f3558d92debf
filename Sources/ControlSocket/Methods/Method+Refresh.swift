import CivilTime
import Decision
import JSON

extension Method {
    static let refresh = Method(
        name: "Refresh", parameters: ["source"],
        declaration: """
            # How the fetch of one source ended: 'changed', 'unchanged', 'waiting' for flags that need
            # more signatures or answers, 'refused' for an answer that changes nothing, or 'failed'; the
            # last two with a problem. 'flagsAge' is the age of
            # unchanged flags in milliseconds, where they were read within the last minute.
            type Fetched (source: string, outcome: string, problem: ?string, flagsAge: ?int)

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
        let before = daemon.overview
        var refresh = PendingFetches(of: sources, before)
        return .settled(daemon) {
            guard refresh.areDone(daemon) else { return nil }
            let followers = Set(sources.flatMap { daemon.machine.followers(of: $0) })
            guard let states = daemon.decided(followers.sorted()) else { return nil }
            return ["fetched": .array(refresh.outcomes), "services": .array(states)]
        }
    }
}

/// The fetches that a call of `Refresh` waits for.
private struct PendingFetches {
    private let sources: [SourceName]
    /// How the sources were at the call.
    private let before: [SourceName: Overview.SourceView]
    private let start: Instant
    private var ended: [SourceName: JSON.Value] = [:]

    init(of sources: [SourceName], _ overview: Overview) {
        self.sources = sources
        let views = overview.sources.filter { sources.contains($0.name) }
        before = Dictionary(views.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        start = overview.now.wall
    }

    /// Whether no fetch of a source is in flight any more. Once the request to fetch was handled, one that began after
    /// the call is: a fetch that was in flight before is followed by another at once. A signed document counts when its
    /// version is stored; until then its fetch has not ended.
    mutating func areDone(_ daemon: any ControllableDaemon) -> Bool {
        for source in sources where ended[source] == nil {
            guard let view = daemon.machine.view(of: source, at: daemon.now) else {
                ended[source] = json(source, "failed", "it is no longer configured")
                continue
            }
            guard view.nextPoll != nil else { continue }
            let isWaiting = daemon.machine.followers(of: source).contains {
                daemon.machine.publishedVerdict(of: $0)?.isWaiting ?? false
            }
            ended[source] = end(of: view, isWaiting: isWaiting)
        }
        return ended.count == sources.count
    }

    var outcomes: [JSON.Value] { sources.compactMap { ended[$0] } }

    /// Flags of this age or less may be those that the caller has just written.
    private static let recent: ClosedRange<Duration> = .zero ... .seconds(60)

    /// A `Fetched` of the interface about a source whose fetch has ended.
    private func end(of source: Overview.SourceView, isWaiting: Bool) -> JSON.Value {
        let rest = Failure.rest(hasFlags: source.hasFlags)
        let before = before[source.name]
        if let refusal = source.refusal {
            return json(source.name, "refused", "\(refusal); \(rest)")
        }
        if let problem = source.problem {
            return json(source.name, "failed", "\(problem); \(rest)")
        }
        if source.fetches.invalid > before?.fetches.invalid ?? 0 {
            return isWaiting
                ? json(source.name, "waiting")
                : json(source.name, "refused", "no service can read the answer; \(rest)")
        }
        // The next answer would be refused.
        if let problem = source.signersProblem { return json(source.name, "failed", problem) }
        if source.fetchedAt != before?.fetchedAt { return json(source.name, "changed") }
        let age = source.fetchedAt.map { start - $0 }
        return json(
            source.name, "unchanged", age: age.flatMap { Self.recent.contains($0) ? $0 : nil })
    }

    private func json(
        _ source: SourceName, _ outcome: String, _ problem: String? = nil, age: Duration? = nil
    ) -> JSON.Value {
        .object([
            "source": .string(source.text), "outcome": .string(outcome),
            "problem": .optional(problem),
            "flagsAge": .optional(age.map { $0.microseconds / 1000 }),
        ])
    }
}

extension PublishedVerdict {
    /// Whether newer flags lack signatures, or answers that confirm them.
    fileprivate var isWaiting: Bool {
        [.awaitingSignature, .unconfirmed].contains(verdict.reason.slug)
    }
}
