import Configuration
import ControlSocket
import Decision
import Drivers
import EventLoop
import Files
import FlagSources
import Gates
import Glibc
import Guards
import Metrics
import POSIX
import SourceSettings
import Storage
import Systemd
import SystemdUnits

/// The wiring: configuration, directories, memory, machine, sources, signals, and the loop they share.
final class Daemon {
    let options: Options
    let log: Log
    let findings: HostFindings
    let store: ConfigurationStore
    let sources: SourceRegistry
    private let followed: [any FlagSource]
    let runtime: RuntimeDirectory
    let state: StateDirectory
    var stateLock: FileLock
    var runtimeLock: FileLock
    let bootID: String
    let loop: EventLoop
    let decisionDriver: DecisionDriver
    /// Moves the units; nil if decisions move none.
    let gateDriver: GateDriver?
    /// Asks the guards; nil without any.
    private(set) var guards: GuardAsker?
    private let manager: SystemdNotifier
    private var signals: Signals?
    /// Nil for `--once`, which leaves no daemon behind.
    private(set) var parts: Parts?
    var deletedFiles = DeletedFiles()
    /// The orders that were rejected since the queue was empty last.
    private(set) var rejections: [OrderRejection] = []
    private(set) var motd: MOTDWriter?
    /// The file that `[metrics] textfile` names.
    fileprivate let textfile: String?
    /// Where the state of the host is reported; nil if it is not.
    fileprivate let report: ReportSettings?
    /// How old the last good drill of each service may be that asks for drills.
    private(set) var drillIntervals: [ServiceName: Duration]

    /// The signals that end the daemon, and SIGHUP, which has it read its configuration again.
    static let signals = [SIGINT, SIGTERM, SIGHUP]

    /// Prepares and locks the directories. Throws if the configuration is invalid, or another daemon holds one.
    init(_ options: Options, _ log: Log) throws {
        self.options = options
        self.log = log
        findings = HostFindings(log)
        Descriptors.raiseLimit()
        let paths = try DirectoryPaths(options)
        state = StateDirectory(path: paths.state)
        bootID = try Files.bootID()
        runtime = RuntimeDirectory(
            path: paths.runtime, bootID: bootID, movesGates: options.movesGates)
        store = ConfigurationStore(
            try options.places(), state: state, runtime: runtime, findings, log: log)
        let configuration = try store.first()
        let settings = configuration.settings
        let services = settings.services.map(\.name)
        try Directory.create(state.path, mode: 0o700)
        try Directory.create(runtime.path)
        stateLock = try FileLock(in: state.path)
        runtimeLock = try FileLock(in: runtime.path)
        try state.prepare()
        let reader = MemoryReader(state, runtime)
        var memory = reader.decisions(of: services)
        let attachments = options.movesGates ? readable { try AttachmentFiles.all() } : nil
        let problems = try runtime.tidy(
            services: services, sources: settings.sources.map(\.name),
            tied: Set((attachments ?? []).map(\.service)))
        for problem in problems { log.write(.warning, "\(problem); it is left as it is") }
        store.putInForce(configuration)
        textfile = settings.textfile
        report = settings.report
        drillIntervals = settings.drillIntervals
        loop = try EventLoop()
        try log.retry(on: loop)
        sources = SourceRegistry(on: loop, .ofThisProcess(stateDirectory: state.path))
        let environment = NotifyEnvironment.readAndUnset()
        log.write(.info, "the files of each service are in \(runtime.path)/SERVICE")
        followed = try sources.update(to: settings.sources)
        for source in followed { memory.flags[source.name] = reader.flags(of: source) }
        let address = environmentVariable("DBUS_SYSTEM_BUS_ADDRESS")
        let synchronisation = ClockSynchronisation(loop, address: address)
        let (wall, boot) = loop.now
        let machine = Machine(
            plan: settings.plan, memory: memory, place: HostIdentity.place, bootID: bootID,
            clockFloor: .clockFloor,
            seed: UInt64.random(in: .min ... .max),
            at: Now(wall: wall, boot: boot, isSynchronised: synchronisation.value))
        decisionDriver = DecisionDriver(
            loop: loop, machine: machine, runtime: runtime, state: state, pages: settings.pages,
            synchronisation: synchronisation, announce: log.write)
        sources.deliver = decisionDriver.post
        synchronisation.changed = { [unowned decisionDriver] in decisionDriver.post(.woke) }
        gateDriver =
            options.movesGates
            ? try GateDriver(
                loop: loop, services: services, listed: settings.heldUnits, address: address,
                runtime: runtime, publish: decisionDriver.publish,
                publishGate: decisionDriver.publish,
                announce: { [decisionDriver, log] notice in
                    log.write(
                        notice.explained {
                            decisionDriver.machine.publishedVerdict(of: $0)?.verdict
                        })
                }) : nil
        if !options.movesGates { try MoverPlaces.forget(in: runtime.path) }
        decisionDriver.isTied = { [gateDriver] in gateDriver?.gates.isTied($0) ?? false }
        let (store, findings, gateDriver) = (store, findings, gateDriver)
        manager = try SystemdNotifier(environment, on: loop, decisionDriver) {
            HostCondition(store, findings, gateDriver)
        }
        configure(guards: settings.guards)
    }

    /// Asks these guards from now on.
    private func configure(guards settings: [GuardName: GuardSettings]) {
        guard !settings.isEmpty || guards != nil else { return }
        let asker =
            guards
            ?? GuardAsker(
                sources.environment, client: { [sources] in try sources.sharedClient() },
                answered: { [unowned decisionDriver] in
                    decisionDriver.post(.guardAnswered($0, $1))
                })
        asker.configure(settings)
        decisionDriver.askGuard = { [unowned asker] in asker.ask($0) }
        guards = asker
    }

    /// Runs until a signal or, with `--once`, a decision ends it; gives the exit status.
    func run() throws -> Int32 {
        gateDriver?.observer = { [unowned self] hasChanged in
            parts?.queueEmptied(gatesHaveChanged: hasChanged)
            if hasChanged { manager.sendDue() }
        }
        motd = try MOTDWriter(of: self)
        switch options.purpose {
        case .run:
            parts = try Parts(of: self)
            try parts?.report(report, of: self)
        case .decideOnce, .check, .moveGates, .help, .version: try runtime.removeAlive()
        }
        signals = try Signals(loop, Self.signals) { [unowned self] signal in
            if signal.number == SIGHUP {
                readConfiguration()
                return
            }
            manager.stop()
            loop.exit(DaemonExitStatus.success)
        }
        let once =
            options.purpose == .decideOnce
            ? Once(sources: followed.map(\.name), decisionDriver: decisionDriver, loop: loop) : nil
        decisionDriver.observer = { [unowned self] observation in
            switch observation {
            // Units are moved after the files are written.
            case .decided(let service, let record):
                moveGate(of: service, to: record)
                motd?.serviceDecided(service)
            case .openingDelayed(let service): gateDriver?.post(.openingDelayed(service))
            case .announced(let service, let hook):
                gateDriver?.post(.announced(service, hook))
            case .rejected(let service, let order, let objection):
                rejections.append(OrderRejection(service, order, objection))
            case .handled(let event):
                once?.observe(event)
                if event == .clockStepped { parts?.life.beat() }
                if case .reconfigured = event {
                    parts?.host.reconfigured()
                    manager.reloadEnded()
                }
            // Once for a burst of events, because it looks at all services.
            case .queueDrained:
                motd?.write()
                manager.sendDue()
                parts?.queueEmptied()
                once?.queueDrained()
                rejections = []
            }
        }
        try gateDriver?.start()
        try decisionDriver.start(followed)
        let status = try loop.run()
        parts?.host.stop()
        parts = nil
        motd?.send()
        motd = nil
        decisionDriver.stop()
        guards = nil
        gateDriver?.stop()
        return status
    }

    /// Differs whenever the metrics or a report do, but for times.
    var revision: MetricsRevision {
        MetricsRevision(
            decisionDriver.overviewRevision, gates: gateDriver?.publicationCount ?? 0,
            host: findings.changes)
    }

    /// Moves the gate of a service. Without the driver of gates `gate.json` says that nobody moves it.
    func moveGate(of service: ServiceName, to record: PublishedVerdict?) {
        if let gateDriver { return gateDriver.serviceDecided(record, of: service) }
        guard let verdict = record?.verdict, verdict.isEnforced, let gate = verdict.gate else {
            return
        }
        do {
            try decisionDriver.publish(GateStatus(unmoved: gate), of: service)
        } catch {
            decisionDriver.post(.writeEnded(.publish(service), problem: "\(error)"))
        }
    }

    /// Reads the configuration again, and returns its warnings. One that cannot be put in force changes nothing.
    @discardableResult
    func readConfiguration() -> [String] {
        manager.reloadStarted()
        defer {
            parts?.metrics.request()
            parts?.reportIfChanged()
            parts?.host.update()
        }
        let next = store.next { try sources.update(to: $0.settings.sources) }
        guard let (configuration, sources) = next else {
            manager.reloadEnded()
            return []
        }
        let settings = configuration.settings
        gateDriver?.post(.unitsListedByConfiguration(settings.heldUnits))
        drillIntervals = settings.drillIntervals
        parts?.metrics.setTextfile(settings.textfile)
        do { try parts?.report(settings.report, of: self) } catch {
            findings.set(.report, to: "the host's state is not reported: \(error)")
        }
        configure(guards: settings.guards)
        decisionDriver.post(
            Reconfiguration(
                settings.plan, sources: sources, pages: settings.pages,
                remember: MemoryReader(state, runtime).flags))
        return configuration.warnings
    }
}

/// The parts of a daemon that stays. They work from the start of the loop until they are dropped.
final class Parts {
    let host: HostFile
    let server: Server?
    let metrics: MetricsWriter
    /// Nil until `[report]` names a server, or a cluster.
    private var toServer: HostTeller?
    private var toCluster: HostTeller?
    let life: Heartbeat

    fileprivate init(of daemon: Daemon) throws {
        // Who finds the socket finds the file of this daemon, and not that of an earlier one.
        host = try HostFile(of: daemon, isReported: daemon.report?.server != nil)
        server = daemon.listen()
        metrics = try MetricsWriter(of: daemon)
        metrics.setTextfile(daemon.textfile)
        life = try Heartbeat(of: daemon) { [unowned daemon, metrics, host] in
            metrics.request()
            host.check()
            daemon.restoreDeletedFiles()
            EventLoop.returnFreedMemory()
            daemon.countDescriptors()
        }
    }

    /// Tells the host's state by these settings from now on; nil for nobody.
    fileprivate func report(
        _ settings: ReportSettings?, of daemon: Daemon
    ) throws(SystemError) {
        let spread = settings?.spread ?? .zero
        if let server = settings?.server {
            host.keepNumbers()
            let teller = if let toServer { toServer } else { try HostTeller("", of: daemon) }
            toServer = teller
            teller.configure(.server(server), spread: spread)
        } else {
            toServer?.configure(nil, spread: spread)
        }
        if let source = settings?.cluster.flatMap(daemon.sources.cluster) {
            let teller = if let toCluster { toCluster } else { try HostTeller("etcd", of: daemon) }
            toCluster = teller
            teller.configure(.cluster(source), spread: spread)
        } else {
            toCluster?.configure(nil, spread: spread)
        }
    }

    func reportIfChanged() {
        toServer?.reportIfChanged()
        toCluster?.reportIfChanged()
    }

    /// The driver of decisions or the gates have handled their events, and performed what follows. Orders are answered
    /// last, when the files show them.
    func queueEmptied(gatesHaveChanged: Bool = false) {
        host.update(isWaitedFor: server?.isWaitedFor ?? false, gatesHaveChanged: gatesHaveChanged)
        metrics.requestIfChanged()
        reportIfChanged()
        server?.advance()
    }
}
