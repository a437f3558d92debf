package import Decision
package import EventLoop
package import Gates
package import POSIX
package import Storage
import SystemdUnits

/// Performs the effects of the gates' machine: asks root's mover to move them, and sees over D-Bus what became of it.
package final class GateDriver {
    private let loop: EventLoop
    private var machine: GateMachine
    private let runtime: RuntimeDirectory
    private let publish: ([UnitRow], ServiceName) throws -> Void
    private let publishGate: (GateStatus, ServiceName) throws -> Void
    private let log: (GateLogMessage) -> Void
    private var systemd: SystemdClient?
    private var mover: MoverClient?
    private let driver: MachineDriver<GateEvent>
    private var timer: Timer?

    /// Called when events were handled, and whether the overview has changed.
    package var observer: ((Bool) -> Void)?
    /// Called after `units.json` or `gate.json` of a service were written, or could not be.
    package var published: ((ServiceName) -> Void)?
    private var lastOverview: GateOverview?

    /// A driver of the gates of these services, which attaches the `listed` units to them. `address` is the address of
    /// the bus; nil for the system bus. `targets` is written into the `runtime` directory; `publish` writes
    /// `units.json`, and `publishGate` `gate.json`.
    package init(
        loop: EventLoop, services: [ServiceName], listed: [ServiceName: [ConfiguredUnit]],
        address: String?, runtime: RuntimeDirectory,
        publish: @escaping ([UnitRow], ServiceName) throws -> Void,
        publishGate: @escaping (GateStatus, ServiceName) throws -> Void,
        announce: @escaping (GateLogMessage) -> Void
    ) throws {
        self.loop = loop
        driver = MachineDriver(on: loop)
        machine = GateMachine(services: services, listed: listed)
        self.runtime = runtime
        self.publish = publish
        self.publishGate = publishGate
        self.log = announce
        systemd = SystemdClient(loop, address: address) { [unowned self] event in post(event) }
        mover = try MoverClient(loop, runtime: runtime.path) { [unowned self] event in post(event) }
    }

    /// Connects to the bus and begins.
    package func start() throws(SystemError) {
        driver.start { [unowned self] in drainQueue() }
        timer = try Timer(loop, accuracy: .milliseconds(20)) { [unowned self] in post(.woke) }
        post(.started)
    }

    /// Closes the connection to the bus. No gate is moved by that.
    package func stop() {
        (systemd, mover) = (nil, nil)
        driver.stop()
        timer = nil
    }

    /// A service was decided, or is gone. One that is only observed has no gate.
    package func serviceDecided(_ record: PublishedVerdict?, of service: ServiceName) {
        guard let record, record.verdict.isEnforced else { return post(.withdrawn(service)) }
        guard let desired = DesiredGate(record.verdict) else { return }
        post(.decided(service, desired, drainsUntil: record.drainsUntil))
    }

    /// What came of the units that the configuration lists; nil while they are being attached.
    package var attachmentOutcome: AttachmentOutcome? {
        driver.isEmpty ? machine.attachmentOutcome(at: loop.now.boot) : nil
    }

    /// The state of all gates. It is not ready while events are queued.
    package var overview: GateOverview {
        var overview = machine.overview
        if !driver.isEmpty { overview.isReady = false }
        return overview
    }

    /// The gates, to look at. Do not keep the copy: the next event would copy every gate.
    package var gates: GateMachine { machine }

    /// How many writes of `units.json` and `gate.json` were asked for: where it is the same, every gate is.
    package private(set) var publicationCount = 0

    /// What the gate of a service is in fact; nil while that is not known.
    package func report(of service: ServiceName) -> GateStatus? {
        machine.report(of: service, at: loop.now.boot)
    }

    /// Whether systemd has taken or refused what was decided last for a service, or has had its time.
    package func isAnswered(_ service: ServiceName) -> Bool {
        driver.isEmpty && machine.isAnswered(service)
    }

    package func post(_ event: GateEvent) { driver.post(event) }

    private func drainQueue() {
        driver.handleEvents { event in
            for effect in machine.handle(event, at: loop.now.boot) { perform(effect) }
        }
        // Once for all gates: the mover looks at all files.
        mover?.send()
        let overview = overview
        let hasChanged = overview != lastOverview
        lastOverview = overview
        observer?(hasChanged)
    }

    private func perform(_ effect: GateEffect) {
        switch effect {
        case .connectBus: systemd?.connect()
        case .list(let units): systemd?.list(units)
        case .compare(let units): systemd?.compare(units)
        case .subscribe(let units): systemd?.subscribe(to: units)
        case .unsubscribe(let units): systemd?.unsubscribe(from: units)
        case .readUnit(let unit): systemd?.read(unit)
        case .publishTargets(let service, let orders):
            write(service) { try runtime.publish(orders, of: service) }
        case .enqueue(let job): mover?.add(job)
        case .readSystemState: systemd?.readSystemState()
        case .countProcesses(let unit): systemd?.countProcesses(of: unit)
        case .attachListed: mover?.attach()
        case .readAttachOutcome: systemd?.readAttachOutcome()
        case .publishUnits(let service, let rows):
            write(service) { try publish(rows, service) }
            filesWritten(of: service)
        case .publishGate(let service, let report):
            write(service) { try publishGate(report, service) }
            filesWritten(of: service)
        case .log(let notice): log(notice)
        case .sleep(let moment): timer?.set(at: moment)
        }
    }

    private func write(_ service: ServiceName, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            post(.writeFailed(service, problem: "\(error)"))
        }
    }

    private func filesWritten(of service: ServiceName) {
        publicationCount += 1
        published?(service)
    }
}
