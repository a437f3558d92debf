package import CivilTime
package import Decision
package import Gates
import JSON
package import Metrics

/// A machine of services on the source `app`, whose metrics a test reads. Times are seconds since the start.
package struct ObservedHost {
    package private(set) var machine: Machine
    package private(set) var now: Now
    package private(set) var gates: GateMachine?
    private var moveCount = 0
    package var condition = HostCondition()
    private let start: Instant

    /// At most `limit` of the services may close at once. All ask the guard, if there is one. Without a `start` it is
    /// noon.
    package init(
        _ services: [String] = ["shop"], policy: Policy = Policy(), limit: Int? = nil,
        guarded name: GuardName? = nil, isEnforced: Bool = true, start: Instant? = nil
    ) throws {
        self.start = try start ?? Instant(rfc3339: "2027-03-01T12:00:00Z")
        let start = self.start
        now = Now(wall: start, boot: Boottime(microseconds: 1_000_000_000))
        let format = Format.switchObject(.whole)
        let plans = try services.map {
            var service = Service(
                name: try named($0), zone: .utc, switches: [Switch(source: "app", format: format)],
                policy: policy)
            service.isEnforced = isEnforced
            return service
        }
        var plan = Plan(
            sources: [SourcePlan(name: "app", interval: .seconds(60))], services: plans,
            guardLimits: GuardLimits(count: limit))
        if let name { for service in plans { plan.guards[service.name] = name } }
        machine = Machine(
            plan: plan, memory: Memory(), bootID: "this-boot",
            clockFloor: start - .seconds(86_400), seed: 1, at: now)
        _ = machine.handle(.started, at: now)
    }

    package mutating func at(_ seconds: Int64, _ event: Event) {
        let elapsed = Duration.seconds(seconds)
        now.wall = start + elapsed
        now.boot = Boottime(microseconds: 1_000_000_000) + elapsed
        _ = machine.handle(event, at: now)
    }

    package mutating func at(_ seconds: Int64, answers body: String, version: String? = nil) throws
    {
        let bytes = Array(body.utf8)
        let answer = Answer(
            body: bytes, flags: try FlagDocument.parse(bytes),
            version: version.map(FlagVersion.ofAll),
            fetchedAt: start + .seconds(seconds))
        at(seconds, .fetchEnded("app", .answer(answer)))
    }

    /// Moves gates too, as systemd shows them.
    package mutating func move(_ gates: GateMachine) {
        self.gates = gates
        moveCount += 1
        condition.gates = gates.overview
    }

    package var mark: MetricsRevision {
        MetricsRevision(machine.overviewRevision, gates: moveCount)
    }

    package var overview: Overview { machine.overview(at: now, condition) }

    package var text: String {
        let bytes = MetricsText.bytes(of: overview, gates, version: "1.2.3")
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The lines of a metric without its name.
    package func samples(_ metric: Metric) -> [String] {
        text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
            let name = line.prefix { $0 != "{" && $0 != " " }
            return name == metric.name ? String(line.dropFirst(name.count)) : nil
        }
    }
}

extension Override {
    /// An order of an hour from this time on.
    package static func order(_ state: State, from time: Instant) throws -> Override {
        let override = Override(
            state: state, cause: "a \"cause\"", author: "root (uid 0)", since: time,
            until: time + .seconds(3600))
        guard let override else { throw InvalidFlag.missing(key: "state") }
        return override
    }
}
