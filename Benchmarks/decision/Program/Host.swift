import CivilTime
import Decision
import Metrics

/// A host with many services on one source, each with three switches of three formats.
struct Host {
    private(set) var now: Now
    private var machine: Machine
    private let source: SourceName
    private let count: Int

    struct NoName: Error {}

    init(services count: Int) throws {
        guard let source = SourceName("app") else { throw NoName() }
        self.source = source
        self.count = count
        now = Now(wall: Instant(seconds: 1_806_000_000), boot: Boottime(microseconds: 1_000_000))
        let services = try (0..<count).map { number in
            guard let name = ServiceName("service-\(number)") else { throw NoName() }
            return Service(
                name: name, zone: .utc,
                switches: [
                    .serviceEnd(endKeys: ["end-\(number)"], countdownKey: "countdown-\(number)"),
                    .maintenance(.member("maintenance-\(number)")),
                    .switchObject(.member("switch-\(number)")),
                ].map { Switch(source: source, format: $0) },
                policy: Policy(minClosed: .zero))
        }
        machine = Machine(
            plan: Plan(
                sources: [SourcePlan(name: source, interval: .seconds(60))], services: services),
            memory: Memory(), bootID: "boot", clockFloor: now.wall, seed: 1, at: now)
    }

    /// The flags of all services: snapshots of odd numbers count down, those of even numbers are maintenance.
    func snapshot(number: Int) -> [UInt8] {
        let members = (0..<count).map { service in
            #""end-\#(service)":"countdown","#
                + #""countdown-\#(service)":"2028-12-31T23:59:59+0900","#
                + #""maintenance-\#(service)":{"isUnderMaintenance":\#(number % 2 == 0),"#
                + #""title":"Maintenance","message":"We are back at six."},"#
                + #""switch-\#(service)":{"state":"running","windows":["#
                + #"{"from":"2028-06-01T02:00:00+09:00","until":"2028-06-01T04:00:00+09:00"}]}"#
        }
        return Array("{\(members.joined(separator: ","))}".utf8)
    }

    var overview: Overview { machine.overview(at: now) }

    mutating func start(with answer: Answer) throws {
        _ = publications(of: .started)
        _ = publications(of: .fetchEnded(source, .answer(answer)))
    }

    /// The time of the machine for an answer, in milliseconds.
    mutating func decide(_ answer: Answer, expecting changes: Int) -> Double {
        now = Now(wall: now.wall + .seconds(60), boot: now.boot + .seconds(60))
        _ = publications(of: .woke)
        let began = milliseconds()
        let published = publications(of: .fetchEnded(source, .answer(answer)))
        let took = milliseconds() - began
        precondition(published == changes, "\(published) services were published, not \(changes)")
        return took
    }

    /// How many services are published for an event.
    private mutating func publications(of event: Event) -> Int {
        machine.handle(event, at: now).count { if case .publish = $0 { true } else { false } }
    }
}
