import CivilTime
import Decision
import Drivers
import EventLoop
import FlagSources
import Glibc
import Storage
import Support

extension Plan {
    /// One service `shop` on one source `app`, which is polled once an hour.
    static func shop() throws -> Plan {
        return Plan(
            sources: [SourcePlan(name: "app", interval: .seconds(3600))],
            services: [
                Service(
                    name: "shop", zone: .utc,
                    switches: [
                        Switch(
                            source: "app", format: .serviceEnd(endKeys: ["end"], countdownKey: "at")
                        )
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

/// A source that answers each fetch with the same body, or whose fetches a test ends.
final class FakeSource: FlagSource {
    let name: SourceName
    let fingerprint: String
    private(set) var fetches = 0
    private(set) var isStopped = false
    private let body: String?
    private let now: Instant
    private let deliver: Deliver

    init(
        _ name: SourceName, _ fingerprint: String = "fake", answering body: String? = nil,
        at now: Instant, _ deliver: @escaping Deliver
    ) {
        self.name = name
        self.fingerprint = fingerprint
        self.body = body
        self.now = now
        self.deliver = deliver
    }

    func start() {}

    func fetch(unlessMatching validators: Validators) {
        fetches += 1
        if let body { answer(body) }
    }

    func stop() { isStopped = true }

    func answer(_ body: String) {
        let bytes = Array(body.utf8)
        guard case .success(let flags) = Result(catching: { try FlagDocument.parse(bytes) }) else {
            return
        }
        deliver(.fetchEnded(name, .answer(Answer(body: bytes, flags: flags, fetchedAt: now))))
    }
}

/// The kernel's timer, with which a test reports a step of the clock or lets the timer fire.
final class SteppingClock {
    private var descriptor: Int32 = -1
    private var isStepped = false

    var kernel: WallTimer.Kernel {
        let real = WallTimer.Kernel.real
        return WallTimer.Kernel(
            set: { [unowned self] descriptor, instant in
                self.descriptor = descriptor
                return real.set(descriptor, instant)
            },
            read: { [unowned self] descriptor in
                let code = real.read(descriptor)
                guard isStepped else { return code }
                isStepped = false
                return ECANCELED
            })
    }

    func step() {
        isStepped = true
        expire()
    }

    func expire() { _ = WallTimer.Kernel.real.set(descriptor, Instant(seconds: 1)) }
}
