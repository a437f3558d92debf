import CivilTime
import Decision
import Support
import Testing

/// A host with one source on several mirrors, each of which gives what a test says, in virtual time.
struct MirrorWorld {
    /// What a mirror gives.
    enum Gift {
        /// A document of this version: closed where it is odd.
        case version(Int64)
        /// The same, by fewer people.
        case signedBy(Int64, [String])
        /// Another document of that version.
        case forged(Int64)
        /// A document for other hosts.
        case foreign(Int64)
        case failure(Failure)
        /// Nothing until the time limit.
        case silence
    }

    var gifts: [Gift]
    /// How far the clock of each mirror is ahead of ours; nil for one that tells no time.
    var clocks: [Int: Duration] = [:]
    private(set) var machine: Machine
    private(set) var lines: [String] = []
    /// Which mirror was asked when, and under which condition.
    private(set) var asked: [(seconds: Int, mirror: Int, etag: String?)] = []
    private var wake = Wake()
    private var answers: [(at: Boottime, mirror: Int, Validators)] = []
    private(set) var boot = Boottime(microseconds: 0)
    private let start: Instant

    static let interval = Duration.seconds(60)

    static func plan(_ count: Int, _ policy: Policy = Policy(minClosed: .zero)) throws -> Plan {
        Plan(
            sources: [
                SourcePlan(
                    name: "app", interval: interval, timeout: .seconds(30), audience: "prod",
                    mirrors: (0..<count).map { "https://\($0)/x" })
            ], services: [try service(format: .switchObject(.whole), policy: policy)])
    }

    init(_ gifts: [Gift], policy: Policy = Policy(minClosed: .zero), seed: UInt64 = 1) throws {
        self.gifts = gifts
        start = try Instant(rfc3339: "2027-03-01T12:00:00Z")
        machine = Machine(
            plan: try Self.plan(gifts.count, policy), memory: Memory(), bootID: "b",
            clockFloor: Instant(seconds: 0), seed: seed,
            at: Now(wall: start, boot: boot, isSynchronised: true))
        try handle(.started)
    }

    var now: Now {
        Now(wall: start + (boot - Boottime(microseconds: 0)), boot: boot, isSynchronised: true)
    }

    var view: Overview.SourceView {
        get throws { try #require(machine.overview(at: now).sources.first) }
    }

    /// The mirrors that a problem names.
    var troubled: [Int] {
        gifts.indices.filter { mirror in
            problems.contains { $0.contains("mirror 'https://\(mirror)/x'") }
        }
    }

    var problems: [String] { machine.overview(at: now).findings.map(\.sentence) }

    var state: State? { machine.publishedVerdict(of: "shop")?.verdict.state }

    var reason: Reason.Slug? { machine.publishedVerdict(of: "shop")?.verdict.reason.slug }

    /// Lets this time pass. Each answer takes 100 ms.
    mutating func run(_ seconds: Int) throws {
        let end = boot + .seconds(seconds)
        while true {
            let next = [wake.boot, answers.map(\.at).min()].compactMap(\.self).min() ?? end
            guard next <= end else { break }
            boot = max(boot, next)
            if let position = answers.firstIndex(where: { $0.at <= boot }) {
                let answer = answers.remove(at: position)
                let outcome = try outcome(of: answer.mirror, answer.2)
                let date = clocks[answer.mirror].map { now.wall + $0 }
                try handle(.fetchEnded("app", outcome, date: date))
            } else {
                wake = Wake()
                try handle(.woke)
            }
        }
        boot = end
    }

    mutating func handle(_ event: Event) throws {
        for effect in machine.handle(event, at: now) {
            switch effect {
            case .fetch(_, let validators, let mirror):
                let mirror = try #require(mirror)
                let seconds = (boot - Boottime(microseconds: 0)).wholeSeconds
                asked.append((Int(seconds), mirror, validators.etag))
                let isSilent = if case .silence = gifts[mirror] { true } else { false }
                answers = [
                    (boot + (isSilent ? .seconds(30) : .milliseconds(100)), mirror, validators)
                ]
            case .sleep(let wake): self.wake = wake
            case .log(let message): lines.append(message.sentence)
            case .storeVersion(let source, _):
                try handle(.writeEnded(.storeVersion(source), problem: nil))
            default: break
            }
        }
    }

    private func outcome(of mirror: Int, _ validators: Validators) throws -> Outcome {
        switch gifts[mirror] {
        case .version(let version): try document(version, of: mirror, validators)
        case .signedBy(let version, let authors):
            try document(version, of: mirror, validators, by: authors)
        case .forged(let version): try document(version, of: mirror, validators, more: " ")
        case .foreign(let version): try document(version, of: mirror, validators, for: "test")
        case .failure(let failure): .failure(failure)
        case .silence: .failure(Failure(.unreachable, "get: no complete answer within 30s"))
        }
    }

    /// Each mirror has an ETag of its own.
    private func document(
        _ version: Int64, of mirror: Int, _ validators: Validators,
        by authors: [String] = ["alice"],
        for audience: String = "prod", more: String = ""
    ) throws -> Outcome {
        let etag = "\(mirror)-\(version)-\(authors.count)\(more)"
        if validators.etag == etag { return .unchanged }
        let word = version % 2 == 1 ? "maintenance" : "running"
        var answer = try answer(
            #"{"state":"\#(word)","version":\#(version),"expires":"2027-04-01T00:00:00Z","audience":"\#(audience)"}"#
                + more, fetchedAt: now.wall)
        answer.signed = SignedAnswer(
            try SignedMetadata(answer.flags, digest: answer.body), by: authors,
            signatures: Array(authors.joined().utf8))
        answer.validators = Validators(etag: etag)
        return .answer(answer)
    }
}
