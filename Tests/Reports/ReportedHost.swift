import CivilTime
import Decision
import Gates
import JSON
import Reports
import Support

/// A service `shop` with its gate, of which a test makes reports. Times are seconds since the start.
struct ReportedHost {
    private var machine: Machine
    private var gates: GateMachine
    private var now: Now
    private let start: Instant
    let shop: ServiceName = "shop"
    var movesGates = true
    /// Findings in the place of those of the gates.
    var findings: [Finding] = []

    /// `others` read the same flags.
    init(also others: [ServiceName] = []) throws {
        start = try Instant(rfc3339: "2027-03-01T12:00:00Z")
        now = Now(wall: start, boot: Boottime(microseconds: 1_000_000_000))
        let services = ([shop] + others).map {
            Service(
                name: $0, zone: .utc,
                switches: [Switch(source: "app", format: .switchObject(.whole))], policy: Policy())
        }
        machine = Machine(
            plan: Plan(
                sources: [SourcePlan(name: "app", interval: .seconds(60))], services: services,
                guardLimits: GuardLimits(count: nil)), memory: Memory(), bootID: "this-boot",
            clockFloor: start - .seconds(86_400), seed: 1, at: now)
        gates = GateMachine(services: [shop])
        _ = machine.handle(.started, at: now)
        _ = gates.handle(.started, at: now.boot)
    }

    private mutating func move(to seconds: Double) {
        let elapsed = Duration.microseconds(Int64(seconds * 1_000_000))
        now.wall = start + elapsed
        now.boot = Boottime(microseconds: 1_000_000_000) + elapsed
    }

    /// The source answers with this body, which `authors` have signed.
    mutating func at(_ seconds: Double, answers body: String, by authors: [String] = []) throws {
        move(to: seconds)
        let bytes = Array(body.utf8)
        var answer = Answer(body: bytes, flags: try FlagDocument.parse(bytes), fetchedAt: now.wall)
        if !authors.isEmpty {
            answer.signed = SignedAnswer(
                try SignedMetadata(answer.flags, digest: bytes), by: authors)
        }
        _ = machine.handle(.fetchEnded("app", .answer(answer)), at: now)
        guard let verdict = machine.publishedVerdict(of: shop)?.verdict,
            let gate = DesiredGate(verdict)
        else { return }
        self.at(seconds, .decided(shop, gate))
    }

    mutating func at(_ seconds: Double, _ event: GateEvent) {
        move(to: seconds)
        _ = gates.handle(event, at: now.boot)
    }

    private var overview: Overview {
        var condition = HostCondition()
        if movesGates { condition.gates = gates.overview }
        if !findings.isEmpty {
            condition.gates = GateOverview(isReady: true, findings: findings)
        }
        return machine.overview(at: now, condition)
    }

    /// The brief of this host, which may have another name.
    func brief(_ name: String? = "web1") -> HostBrief {
        HostBrief(host: name, bootID: "boot", overview, movesGates ? gates : nil)
    }

    /// The bytes of the brief as text.
    func briefText() -> String { String(decoding: brief().bytes(at: now.wall), as: UTF8.self) }

    /// Whether each service is as wanted, or has failed to become so.
    var isSettled: Bool { overview.isSettled(gates) }

    var drillIntervals: [ServiceName: Duration] = [:]

    private var made: HostDocument {
        var facts = HostDocument.Facts(
            name: "web1", machineID: String(repeating: "0", count: 32), bootID: "boot",
            version: "1.2.3")
        facts.origins["app"] = SourceOrigin(
            type: "http", urls: ["https://me:secret@flags.example.com:8443/shop.json?key=secret"])
        facts.drillIntervals = drillIntervals
        return HostDocument(facts, overview, gates)
    }

    func report(generation: Int64 = 1) -> [UInt8] {
        made.bytes(generation: generation, at: now.wall)
    }

    /// What is told anew, and every byte.
    var fingerprint: Int { made.fingerprint }
    var content: Int { made.content }

    mutating func at(_ seconds: Double, fails detail: String) throws {
        move(to: seconds)
        let failure = Failure(.unreachable, detail)
        _ = machine.handle(.fetchEnded("app", .failure(failure)), at: now)
    }

    func document() throws -> JSON.Object { try JSON.Value.parse(report()).object ?? [:] }

    /// The members of the service, compact.
    func service(_ names: String...) throws -> String {
        let service = try document()["services"]?.array?.first?.object ?? [:]
        return names.map { "\($0) \(service[$0]?.serialized() ?? "-")" }.joined(separator: ", ")
    }
}
