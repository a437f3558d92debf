import CivilTime
import Decision
import JSON

extension Method {
    static let refresh = Method(
        name: "Refresh", access: .acting, parameters: ["source"],
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
        var refresh = PendingFetches(of: sources, daemon.overview)
        return .later { (trigger) throws(MethodError) in
            let isDone = refresh.isDone(after: trigger, daemon.overview) { source in
                daemon.machine.followers(of: source).contains {
                    daemon.machine.publishedVerdict(of: $0)?.isWaiting ?? false
                }
            }
            guard isDone else { return nil }
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
    /// The sources whose request to fetch has left the queue.
    private var begun: Set<SourceName> = []
    /// The sources with a fetch that has ended since.
    private var fetched: Set<SourceName> = []
    private var ended: [SourceName: JSON.Value] = [:]

    init(of sources: [SourceName], _ overview: Overview) {
        self.sources = sources
        let views = overview.sources.filter { sources.contains($0.name) }
        before = Dictionary(views.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        start = overview.now.wall
    }

    /// Whether a fetch of each source that began after the call has ended. A fetch that was in
    /// flight when the call came does not count: another fetch follows it at once.
    /// `isWaiting` tells whether a service waits for more signatures, or more answers, of a source.
    mutating func isDone(
        after trigger: ReplyTrigger, _ overview: Overview, isWaiting: (SourceName) -> Bool
    ) -> Bool {
        for source in sources {
            guard let view = overview.sources.first(where: { $0.name == source }) else {
                let problem = "it is no longer configured"
                ended[source] = json(source, "failed", problem)
                continue
            }
            switch trigger {
            case .event(.hinted(source)): begun.insert(source)
            case .event(.fetchEnded(source, _, _, _)):
                if begun.contains(source) { fetched.insert(source) }
            case .event, .rejected, .queueDrained, .gatesHandled, .writable: break
            }
            // A signed document counts once its version is stored: until then no poll is planned.
            guard fetched.contains(source), view.nextPoll != nil, ended[source] == nil else {
                continue
            }
            ended[source] = end(of: view, isWaiting: isWaiting(source))
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
