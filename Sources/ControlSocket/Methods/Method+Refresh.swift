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
                daemon.followers(of: source).contains {
                    daemon.publishedVerdict(of: $0)?.isWaiting ?? false
                }
            }
            guard isDone else { return nil }
            let followers = Set(sources.flatMap(daemon.followers))
            guard let states = daemon.decided(followers.sorted()) else { return nil }
            return .last(["fetched": .array(refresh.outcomes), "services": .array(states)])
        }
    }
}

/// The fetches that a call of `Refresh` waits for.
private struct PendingFetches {
    private let sources: [SourceName]
    /// Each source as it was at the call.
    private let before: [SourceName: Before]
    /// The sources whose request to fetch has left the queue.
    private var begun: Set<SourceName> = []
    /// The sources with a fetch that has ended since.
    private var fetched: Set<SourceName> = []
    private var ended: [SourceName: JSON.Value] = [:]

    /// What a fetch is compared with.
    private struct Before {
        let fetchedAt: Instant?
        let invalid: Int
        /// The age of the flags; nil without flags.
        let age: Duration?
    }

    init(of sources: [SourceName], _ overview: Overview) {
        self.sources = sources
        let chosen = Set(sources)
        before = overview.sources.reduce(into: [:]) { known, source in
            guard chosen.contains(source.name) else { return }
            known[source.name] = Before(
                fetchedAt: source.fetchedAt, invalid: source.fetches.invalid,
                age: source.fetchedAt.map { overview.now.wall - $0 })
        }
    }

    /// Whether a fetch of each source that began after the call has ended. A fetch that was in
    /// flight when the call came does not count: another fetch follows it at once.
    /// `isWaiting` tells whether a service waits for more signatures, or more answers, of a source.
    mutating func isDone(
        after trigger: ReplyTrigger, _ overview: Overview, isWaiting: (SourceName) -> Bool
    ) -> Bool {
        for source in sources {
            guard let view = overview.sources.first(where: { $0.name == source }) else {
                fetchEnded(source, .failed("it is no longer configured"))
                continue
            }
            switch trigger {
            case .event(.hinted(source)): begun.insert(source)
            case .event(.fetchEnded(source, _, _)):
                if begun.contains(source) { fetched.insert(source) }
            case .event, .rejected, .queueDrained, .gatesHandled, .writable: break
            }
            // A signed document counts once its version is stored: until then no poll is planned.
            guard fetched.contains(source), view.nextPoll != nil, ended[source] == nil else {
                continue
            }
            let before = before[source]
            let end = FetchEnd(
                of: view, fetchedBefore: before?.fetchedAt, invalidBefore: before?.invalid ?? 0,
                age: before?.age, isWaiting: isWaiting(source))
            self.fetchEnded(source, end)
        }
        return ended.count == sources.count
    }

    private mutating func fetchEnded(_ source: SourceName, _ end: FetchEnd) {
        ended[source] = .object([
            "source": .string(source.text), "outcome": .string(end.word),
            "problem": .optional(end.problem),
            "flagsAge": .optional(end.age.map { $0.microseconds / 1000 }),
        ])
    }

    var outcomes: [JSON.Value] { sources.compactMap { ended[$0] } }
}

/// How a fetch has ended, for the caller of `Refresh`.
private enum FetchEnd {
    /// It brought other flags.
    case changed
    /// It confirmed the flags; `age` is their age if they are news.
    case unchanged(age: Duration?)
    /// Services wait for more signatures, or for the same answer again: their reasons say so.
    case waiting
    /// The answer changes nothing for this cause.
    case refused(String)
    /// No answer came for this cause, or the next one would be refused.
    case failed(String)

    /// Flags of this age or less may be those that the caller has just written.
    private static let recent: Duration = .seconds(60)

    init(
        of source: Overview.SourceView, fetchedBefore: Instant?, invalidBefore: Int, age: Duration?,
        isWaiting: Bool
    ) {
        let rest = LogMessage.rest(hasFlags: source.hasFlags)
        if let refusal = source.refusal {
            self = .refused("\(refusal); \(rest)")
        } else if let problem = source.problem {
            self = .failed("\(problem); \(rest)")
        } else if source.fetches.invalid > invalidBefore {
            self = isWaiting ? .waiting : .refused("no service can read the answer; \(rest)")
        } else if let problem = source.signersProblem {
            self = .failed(problem)
        } else if source.fetchedAt != fetchedBefore {
            self = .changed
        } else {
            self = .unchanged(age: age.flatMap { (.zero...Self.recent).contains($0) ? $0 : nil })
        }
    }

    var word: String {
        switch self {
        case .changed: "changed"
        case .unchanged: "unchanged"
        case .waiting: "waiting"
        case .refused: "refused"
        case .failed: "failed"
        }
    }

    var problem: String? {
        switch self {
        case .changed, .unchanged, .waiting: nil
        case .refused(let problem), .failed(let problem): problem
        }
    }

    var age: Duration? {
        if case .unchanged(let age) = self { age } else { nil }
    }
}

extension PublishedVerdict {
    /// Whether newer flags lack signatures, or answers that confirm them.
    fileprivate var isWaiting: Bool {
        [.awaitingSignature, .unconfirmed].contains(verdict.reason.slug)
    }
}
