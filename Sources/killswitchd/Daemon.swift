import Agent
import CivilTime
import Decision
import EventLoop
import Files
import Glibc
import Records
import RemoteFlags
import Settings

/// The wiring: settings, directories, memory, machine, sources and signals, and the loop they share.
final class Daemon {
    private let options: Options
    private let settings: Settings
    private let runtime: RuntimeDirectory
    private let state: StateDirectory
    private let locks: [DirectoryLock]
    private let bootID: String
    private let loop: EventLoop
    private var signals: Signals?

    init(_ options: Options) throws {
        self.options = options
        settings = try ConfigurationFile.load(options.configuration)
        for warning in settings.warnings { Log.write(.warning, "\(warning)") }
        bootID = try Files.bootID()
        let isRoot = geteuid() == 0
        state = StateDirectory(
            path: try File.absolute(
                Directories.state(
                    option: options.stateDirectory, isRoot: isRoot, environment: Self.variable)))
        runtime = RuntimeDirectory(
            path: try File.absolute(
                Directories.runtime(
                    option: options.runtimeDirectory, isRoot: isRoot, environment: Self.variable)),
            bootID: bootID, services: settings.services)
        try Directory.create(state.path)
        try Directory.create(runtime.path)
        locks = [try DirectoryLock(state.path), try DirectoryLock(runtime.path)]
        try state.prepare()
        try runtime.tidy(sources: settings.sources.map(\.name))
        loop = try EventLoop()
    }

    /// Runs until a signal or, with `--once`, a decision ends it; gives the exit status.
    func run() throws -> Int32 {
        Log.write(.info, "the files of each service are in \(runtime.path)/SERVICE")
        let sources = try SourceList(settings.sources, on: loop, bearings)
        let agent = Agent(
            loop: loop, machine: machine(for: sources.all), runtime: runtime, state: state,
            announce: Log.write)
        sources.deliver = agent.post
        signals = try Signals(loop, [SIGINT, SIGTERM]) { [unowned self] _ in
            loop.exit(ExitStatus.success)
        }
        if options.purpose == .decideOnce {
            let once = Once(sources: sources.all.map(\.name), agent: agent, loop: loop)
            agent.observer = once.observe
        }
        try agent.start(sources.all)
        let status = try loop.run()
        agent.stop()
        return status
    }

    private func machine(for sources: [any FlagSource]) -> Machine {
        let (wall, boot) = loop.now
        return Machine(
            plan: settings.plan, memory: memory(of: sources), bootID: bootID,
            clockFloor: ClockFloor.instant, seed: UInt64.random(in: .min ... .max),
            at: Now(wall: wall, boot: boot))
    }

    private var bearings: Bearings {
        Bearings(
            credentialsDirectory: Self.variable("CREDENTIALS_DIRECTORY"), user: geteuid(),
            agent: "killswitchd/\(Command.version)")
    }

    /// What earlier runs left. What cannot be read back is said, and done without.
    private func memory(of sources: [any FlagSource]) -> Memory {
        var memory = Memory()
        if let ledger = restored(state.ledger) { memory.ledger = ledger }
        for source in sources {
            memory.flags[source.name] = restored { () throws(FileError) in
                try state.flags(
                    of: source.name, mark: runtime.mark(of: source.name), isBound: source.isBound)
            }
        }
        return memory
    }

    private func restored<Value>(_ read: () throws(FileError) -> Restored<Value>) -> Value? {
        do {
            switch try read() {
            case .value(let value): return value
            case .nothing: return nil
            case .unreadable(let problem):
                Log.write(.warning, "\(problem); starting without it")
            }
        } catch {
            Log.write(.warning, "\(error); starting without it")
        }
        return nil
    }

    private static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }
}
