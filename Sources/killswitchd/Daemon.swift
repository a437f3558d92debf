import Agent
import Control
import Decision
import EventLoop
import Files
import Gates
import Glibc
import HostConfiguration
import Notify
import Records
import RemoteFlags
import Settings

/// The wiring: configuration, directories, memory, machine, sources and signals, and the loop they
/// share.
final class Daemon {
    private let options: Options
    private let log: Log
    private let store: ConfigurationStore
    private let configuration: Configuration
    private let sources: SourceList
    private let runtime: RuntimeDirectory
    private let state: StateDirectory
    private let locks: [DirectoryLock]
    private let bootID: String
    private let loop: EventLoop
    private var signals: Signals?
    private var server: Server?

    /// The signals that end the daemon, and SIGHUP, which has it read its configuration again.
    static let signals = [SIGINT, SIGTERM, SIGHUP]

    /// Reads the configuration, prepares and locks the directories, and starts no source yet. Throws
    /// if the configuration is invalid or another daemon holds a directory.
    init(_ options: Options, _ log: Log) throws {
        self.options = options
        self.log = log
        let paths = try DirectoryPaths(options)
        state = StateDirectory(path: paths.state)
        bootID = try Files.bootID()
        runtime = RuntimeDirectory(path: paths.runtime, bootID: bootID)
        store = ConfigurationStore(try options.places(), state: state, runtime: runtime, log: log)
        configuration = try store.first()
        try Directory.create(state.path)
        try Directory.create(runtime.path)
        locks = [try DirectoryLock(state.path), try DirectoryLock(runtime.path)]
        try state.prepare()
        let settings = configuration.settings
        let problems = try runtime.tidy(
            services: settings.services.map(\.name), sources: settings.sources.map(\.name))
        for problem in problems {
            log.write(.warning, "\(problem); it is left as it is")
        }
        store.begin(with: configuration)
        loop = try EventLoop()
        sources = SourceList(on: loop, .ofThisProcess(stateDirectory: state.path))
    }

    /// Runs until a signal or, with `--once`, a decision ends it; gives the exit status.
    func run() throws -> Int32 {
        let environment = ServiceEnvironment.take()
        log.write(.info, "the files of each service are in \(runtime.path)/SERVICE")
        let followed = try sources.follow(configuration.settings.sources)
        let agent = Agent(
            loop: loop, machine: machine(for: followed), runtime: runtime, state: state,
            announce: { [log] notice in log.write(notice) })
        sources.deliver = agent.post
        let gatekeeper = options.movesGates ? gatekeeper(for: agent) : nil
        let manager = try ServiceManager(environment, on: loop) { [store] in
            (
                agent.machine.overview(at: agent.now), agent.machine.isProgressing(at: agent.now),
                store.refusal, gatekeeper?.overview
            )
        }
        gatekeeper?.observer = { [log] in
            log.catchUp()
            manager.look()
        }
        let controlled = ControlledDaemon(
            agent, store, bootID: bootID, movesGates: options.movesGates
        ) { [unowned self] in reload(agent, manager) }
        if options.purpose == .follow { server = listen(controlled) }
        signals = try Signals(loop, Self.signals) { [unowned self] signal in
            guard signal != SIGHUP else { return reload(agent, manager) }
            manager.stop()
            loop.exit(DaemonExitStatus.success)
        }
        let once =
            options.purpose == .decideOnce
            ? Once(sources: followed.map(\.name), agent: agent, loop: loop) : nil
        agent.observer = { [log, unowned self] observation in
            switch observation {
            case .decided(let service, let verdict):
                gatekeeper?.take(verdict, of: service)
            case .rejected(let service, let order, let objection):
                server?.advance(.rejected(service, order, objection))
            case .handled(let event):
                once?.observe(event)
                log.catchUp()
                if case .reconfigured = event { manager.endReload() } else { manager.look() }
                server?.advance(.event(event))
            case .settled:
                server?.advance(.settled)
            }
        }
        try gatekeeper?.start()
        try agent.start(followed)
        let status = try loop.run()
        server = nil
        agent.stop()
        gatekeeper?.stop()
        return status
    }

    /// Moves the units. It receives each decision after the files are written.
    private func gatekeeper(for agent: Agent) -> Gatekeeper {
        Gatekeeper(
            loop: loop, services: configuration.settings.services.map(\.name),
            address: environmentVariable("DBUS_SYSTEM_BUS_ADDRESS")
        ) { service, units throws(FileError) in
            try agent.publish(units, of: service)
        } announce: { [log] notice in
            log.write(notice)
        }
    }

    /// Reads the configuration again. A configuration that cannot be put in force changes nothing.
    private func reload(_ agent: Agent, _ manager: ServiceManager) {
        manager.beginReload()
        let next = store.next { try sources.follow($0.settings.sources) }
        guard let next else { return manager.endReload() }
        agent.post(
            Reconfiguration(
                next.configuration.settings.plan, sources: next.prepared, remember: memory.flags))
    }

    /// The control socket. The switches work without it, so a failure does not end the daemon.
    private func listen(_ controlled: ControlledDaemon) -> Server? {
        let dispatcher = Dispatcher(
            controlled, version: ProgramVersion.current, permission: Permission.ofThisProcess,
            author: { Accounts.ofThisHost().author($0.user) })
        do {
            return try Server(
                loop, path: "\(runtime.path)/\(FileName.controlSocket)", dispatcher)
        } catch {
            log.write(.error, "\(error); killswitchctl can only read", id: .controlUnavailable)
            return nil
        }
    }

    private var memory: MemoryReader { MemoryReader(state: state, runtime: runtime, log: log) }

    private func machine(for sources: [any FlagSource]) -> Machine {
        let (wall, boot) = loop.now
        return Machine(
            plan: configuration.settings.plan, memory: memory.memory(of: sources), bootID: bootID,
            clockFloor: ClockFloor.instant, seed: UInt64.random(in: .min ... .max),
            at: Now(wall: wall, boot: boot))
    }
}
