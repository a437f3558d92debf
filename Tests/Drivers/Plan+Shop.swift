import CivilTime
import Decision
import Drivers
import EventLoop
import Storage
import Support
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

/// A real driver on a real loop, with the service `shop`.
final class RunningDriver {
    let folder: TemporaryFolder
    let loop: EventLoop
    let driver: DecisionDriver
    let state: StateDirectory
    let plan: Plan

    init(
        kernel: WallTimer.Kernel = .real, announce: @escaping (LogMessage) -> Void = { _ in }
    ) throws {
        folder = try TemporaryFolder()
        loop = try EventLoop()
        state = StateDirectory(path: folder("state"))
        try state.prepare()
        plan = try Plan.shop()
        driver = DecisionDriver(
            loop: loop, machine: Machine(plan, on: loop),
            runtime: RuntimeDirectory(path: folder("run"), bootID: "boot"), state: state,
            kernel: kernel, announce: announce)
    }

    /// The state in the files of the service; nil without files.
    var serviceState: State? {
        get throws { try PublishedState.read(in: folder("run/shop"))?.state }
    }
}
