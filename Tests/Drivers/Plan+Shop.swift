import CivilTime
import Decision
import EventLoop
import Testing

extension Plan {
    /// One service `shop` on one source `app`, which is polled once an hour.
    static func shop() throws -> Plan {
        let app = try #require(SourceName("app"))
        return Plan(
            sources: [SourcePlan(name: app, interval: .seconds(3600))],
            services: [
                Service(
                    name: try #require(ServiceName("shop")), zone: .utc,
                    switches: [
                        Switch(
                            source: app, format: .serviceEnd(endKeys: ["end"], countdownKey: "at"))
                    ])
            ])
    }
}

extension Machine {
    /// A machine for this plan without any memory, by the clocks of a loop.
    init(_ plan: Plan, on loop: EventLoop) {
        let (wall, boot) = loop.now
        self.init(
            plan: plan, memory: Memory(), bootID: "boot", clockFloor: Instant(seconds: 0), seed: 1,
            at: Now(wall: wall, boot: boot))
    }
}
