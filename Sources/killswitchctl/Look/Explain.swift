import ArgumentParser
import CivilTime
import Decision
import Files
import HostConfiguration
import JSON
import Records
import Settings

/// `killswitchctl explain SERVICE`
struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say why a service is in its state.",
        discussion: """
            Prints the chain: what each source said and how long ago, the flags that mattered, the \
            reading of each switch, the policy, an override, the verdict, the gate and the \
            attached units. A user who may not read the stored flags sees only the links after the \
            policy.

            Exits with 3 if the state file is out of date, after printing.

            example: killswitchctl explain shop
            """)

    @OptionGroup var common: CommonOptions

    @Option(
        help: ArgumentHelp(
            "The daemon's state directory, where the flags are stored.", valueName: "directory"))
    var stateDirectory: String?

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: "The service.", completion: .services)
    var service: ServiceName

    func run() throws {
        let published = try PublishedFiles(common)
        let state = try published.known(service)
        var report = ExplanationReport(
            state: state, units: try published.units(of: service), now: published.now)
        do {
            let directory = try published.stateDirectory(stateDirectory)
            report.chain = try DecisionReplay(of: service, in: directory, published).explanation(
                beside: state)
        } catch {
            report.gap = error.message
        }
        print(json ? report.json.serialized(.pretty) : report.text)
        guard report.isCurrent else {
            throw CommandFailure(.undecided, published.isOutOfDate(service))
        }
    }
}

/// Repeats the daemon's decision about a service from its stored files: the configuration accepted
/// last, the flags, the overrides. So an explanation needs no running daemon, and comes from the
/// same machine.
struct DecisionReplay {
    private let service: Service
    private let plan: Plan
    private let state: StateDirectory
    private let published: PublishedFiles

    /// Reads the stored configuration in `directory`. Throws if it does not have the service.
    init(
        of name: ServiceName, in directory: String, _ published: PublishedFiles
    ) throws(CommandFailure) {
        self.published = published
        state = StateDirectory(path: directory)
        let settings = try Self.settings(state)
        guard let service = settings.services.first(where: { $0.name == name }) else {
            throw CommandFailure(.no, "'\(name)' is not in the configuration accepted last")
        }
        self.service = service
        let used = Set(service.switches.map(\.source))
        plan = Plan(
            sources: settings.plan.sources.filter { used.contains($0.name) }, services: [service])
    }

    /// How the machine arrives at the published `state`; nil if it does not know the service.
    func explanation(beside state: PublishedState) throws(CommandFailure) -> Explanation? {
        let now = published.now
        let marks = try confirmations().sorted { $0.time < $1.time }
        let flags = try flags(beside: state)
        let begin = moment(min(marks.first?.time ?? now, now))
        var machine = Machine(
            plan: plan, memory: try memory(flags.compactMapValues(\.inForce)),
            bootID: state.bootID, clockFloor: Instant(seconds: 0), seed: 0, at: begin)
        if case .file(let path) = service.installed, let version = try installed(path) {
            _ = machine.handle(.installed(service.name, version), at: begin)
        }
        _ = machine.handle(.started, at: begin)
        for mark in marks {
            let outcome = flags[mark.source]?.waiting.map(Outcome.answer) ?? .unchanged
            _ = machine.handle(.fetched(mark.source, outcome), at: moment(mark.time))
        }
        // A published decision means that the wait for first answers is over.
        if state.state != .undecided { _ = machine.handle(.waitEnded, at: moment(now)) }
        return machine.explanation(of: service.name, at: moment(now))
    }

    /// The stored flags of a source: those in force, and a newer answer that waits for the next
    /// start.
    private struct Flags {
        var inForce: Memory.StoredFlags?
        var waiting: Answer?
    }

    private func flags(
        beside state: PublishedState
    ) throws(CommandFailure) -> [SourceName: Flags] {
        var flags: [SourceName: Flags] = [:]
        // Every binding is accepted: the daemon alone knows the credentials.
        for source in plan.sources {
            guard
                var kept = try orFail(.no, {
                    try self.state.flags(of: source.name, mark: mark(source.name)) { _ in true }
                })
            else { continue }
            var waiting: Answer?
            if service.activation == .nextStart, let first = kept.answers.first,
                state.restsOnFlags(of: source.name, olderThan: first), kept.answers.count > 1
            {
                waiting = first
                kept.answers.removeFirst()
            }
            flags[source.name] = Flags(inForce: kept, waiting: waiting)
        }
        return flags
    }

    private func memory(_ flags: [SourceName: Memory.StoredFlags]) throws(CommandFailure) -> Memory
    {
        Memory(
            flags: flags, ledger: try orFail(.no, state.ledger) ?? Ledger(),
            overrides: try orFail(.no, state.overrides) ?? [:])
    }

    /// When each source last confirmed its flags in this boot, by the marks.
    private func confirmations() throws(CommandFailure) -> [(source: SourceName, time: Instant)] {
        var confirmations: [(source: SourceName, time: Instant)] = []
        for source in plan.sources.map(\.name) {
            do {
                let time = Instant(microseconds: try File.modificationTime(of: mark(source)))
                confirmations.append((source, min(time, published.now)))
            } catch  where error.isNotFound {
                continue
            } catch {
                throw CommandFailure(.no, "\(error)")
            }
        }
        return confirmations
    }

    private func mark(_ source: SourceName) -> String {
        "\(published.directory)/\(FileName.source(source))"
    }

    /// The time on both clocks, which are made to agree, since only differences count here.
    private func moment(_ instant: Instant) -> Now {
        Now(wall: instant, boot: Boottime(microseconds: instant.microseconds))
    }

    private func installed(_ path: String) throws(CommandFailure) -> Version? {
        try orFail { try VersionFile.version(in: path) }
    }

    /// The configuration that the daemon accepted last.
    private static func settings(_ state: StateDirectory) throws(CommandFailure) -> Settings {
        let kept = try orFail(.no, state.keptConfiguration)
        guard let kept else {
            throw CommandFailure(.no, "no configuration is kept in '\(state.path)'")
        }
        return try orFail {
            try Configuration(
                ConfigurationFiles(kept.map { .init(path: $0.path, bytes: $0.bytes) })
            ).settings
        }
    }
}

extension PublishedState {
    /// Whether it was decided by flags of this source that are older than `answer`.
    fileprivate func restsOnFlags(of source: SourceName, olderThan answer: Answer) -> Bool {
        guard object["source"]?.string == source.text, let text = object["fetched_at"]?.string,
            case .success(let fetched) = Result(catching: { try Instant(rfc3339: text) })
        else { return false }
        return fetched + .seconds(1) <= answer.fetchedAt
    }
}
