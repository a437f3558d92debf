import ArgumentParser
import CivilTime
import Configuration
import ControlSocket
import Decision
import EventLoop
import Files
import FlagSignatures
import JSON
import SourceSettings
import Storage

/// `killswitchctl explain SERVICE`, `killswitchctl explain WORD`
struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say why a service is in its state, or what a word means.",
        discussion: """
            Prints the chain: what each source said and how long ago, the flags that mattered, the \
            reading of each switch, the policy, an override, the verdict, until when it holds and what \
            to type to change it, what is wrong, the gate and the attached units. Members of the group \
            killswitchd have the first links, with the addresses of the sources, from the running \
            daemon; others see only the links after the policy.

            A WORD is one that other commands print: a reason, such as awaiting-guard, or a finding, \
            such as unit-late.

            Exits with 3 if the state file is out of date, after printing.

            example: killswitchctl explain shop
            """)

    @OptionGroup var common: CommonOptions

    @Option(
        help: ArgumentHelp(
            "The daemon's state directory, where the flags are stored.", valueName: "directory"))
    var stateDirectory: String?

    @Flag(help: "Print JSON.") var json = false

    @Argument(
        help: ArgumentHelp("The service, or a word.", valueName: "service"),
        completion: .servicesAndWords, transform: ServiceName.read)
    var service: ServiceName

    func run() throws {
        let published = try PublishedFiles(common)
        // A service whose state cannot be read exists.
        let isService = readable { try published.state(of: service) != nil } ?? true
        if !isService, let word = ExplainedWord(service.text) {
            if json { printJSON(word.json) } else { printLines(word.text) }
            return
        }
        let host = PublishedHost(of: published, about: [service])
        // They may be why the state cannot be read.
        for problem in host.problems where problem.isOfHost {
            printError("\(problem.line(at: published.now))\n    to do: \(problem.advice)")
        }
        let state: PublishedState
        do { state = try published.known(service) } catch let failure as CommandFailure {
            guard failure.status == .noSuchService else { throw failure }
            guard let orphan = OrphanedService(service) else {
                let hint = nearest(to: service.text, among: ExplainedWord.words)
                guard let hint,
                    nearest(to: service.text, among: try published.services().map(\.text)) == nil
                else { throw failure }
                throw CommandFailure(
                    .noSuchService,
                    "no service, reason or finding is called '\(service)'; did you mean '\(hint)'?")
            }
            if json { printJSON(orphan.json) } else { printLines(orphan.explanation) }
            throw CommandFailure(.noSuchService)
        }
        var report = ExplanationReport(
            state: state, gate: published.gate(of: service, beside: state.gate),
            units: try published.units(of: service), now: published.now,
            isCurrent: published.isCurrent(state, at: published.now),
            problems: host.problems.filter { !$0.isOfHost }, sources: host.sources,
            isDaemonThere: host.absence == nil)
        do {
            let directory = try published.stateDirectory(stateDirectory)
            let replay = try DecisionReplay(of: service, in: directory, published)
            report.chain = try replay.explanation(beside: state).map {
                ExplanationForm(
                    $0, guards: replay.guards, sources: replay.sources, at: published.now)
            }
        } catch {
            report.gap = CommandFailure(error).message
            // Only the daemon's user may read its directory, and a command reads no large files of it. A member of the
            // group may ask the daemon.
            if let cause = error as? FileError, cause.isPermissionDenied || cause.isTooLarge,
                stateDirectory == nil
            {
                try ask(published, &report)
            }
        }
        if json { printJSON(report.json) } else { printLines(report.text) }
        guard report.isCurrent else {
            throw CommandFailure(.undecided, published.isOutOfDate(service))
        }
    }

    /// Adds the chain of the running daemon, or why it tells none.
    private func ask(_ published: PublishedFiles, _ report: inout ExplanationReport) throws {
        do {
            let reply = try published.daemon(timeout: .seconds(5))
                .call("Explain", ["service": .string(service.text)])
            (report.chain, report.gap) = (ExplanationForm(reply: reply), nil)
        } catch let error as MethodError {
            report.gap = CommandFailure(error).message
        } catch let error as SocketError {
            // Without a daemon, what the files have said is all there is.
            if error.isDenied { report.gap = CommandFailure(error).message }
        }
    }
}

/// Repeats the daemon's decision about a service without it: from its stored files, by the same machine.
struct DecisionReplay {
    private let service: Service
    private let plan: Plan
    private let store: StateDirectory
    private let published: PublishedFiles
    /// Whose signatures count, for each source that has signers.
    private let signing: [SourceName: SigningRule]
    /// The guards and the sources of the stored configuration.
    let guards: [GuardName: GuardSettings]
    let sources: [Source]

    /// Reads the stored configuration in `directory`. Throws if it does not have the service.
    init(of name: ServiceName, in directory: String, _ published: PublishedFiles) throws {
        self.published = published
        store = StateDirectory(path: directory, isForeign: true)
        guard let kept = try store.keptConfiguration() else {
            throw CommandFailure("no configuration is kept in '\(directory)'")
        }
        let settings = try LoadedConfiguration(kept).settings
        guard let service = settings.services.first(where: { $0.name == name }) else {
            throw CommandFailure("'\(name)' is not in the last accepted configuration")
        }
        self.service = service
        var plan = Plan(
            sources: settings.plan.sources(of: service), services: [service],
            slots: settings.slots)
        // What a guard has answered is not stored: a step that has not come yet is held here too.
        plan.guards = settings.guardNames.filter { $0.key == name }
        self.plan = plan
        (guards, sources) = (settings.guards, settings.sources)
        signing = settings.sources.reduce(into: [:]) { $0[$1.name] = $1.signing }
    }

    /// How the machine arrives at the published `state`; nil if it does not know the service.
    func explanation(beside state: PublishedState) throws -> Explanation? {
        let now = published.now
        let confirmations = try plan.sources.map(\.name)
            .compactMap { source in
                try published.confirmation(of: source).map { (source: source, time: min($0, now)) }
            }
            .sorted { $0.time < $1.time }
        let flags = try flags(beside: state)
        let memory = Memory(
            flags: flags.mapValues(\.inForce), ledger: .known(try store.ledger().get() ?? Ledger()),
            overrides: .known(try store.overrides().get() ?? [:]))
        let begin = moment(confirmations.first?.time ?? now)
        var machine = Machine(
            plan: plan, memory: memory, place: HostIdentity.place,
            bootID: state.bootID, clockFloor: Instant(seconds: 0), seed: 0, at: begin)
        if case .file(let path) = service.installed, let version = try VersionFile.version(in: path)
        {
            _ = machine.handle(.versionInstalled(service.name, version), at: begin)
        }
        _ = machine.handle(.started, at: begin)
        // Which clock differs is not stored.
        let isHeld = state.object.text("reason") == Reason.Slug.clockNotBelieved.rawValue
        for (source, time) in confirmations {
            let date = isHeld ? time + .seconds(86_400) : nil
            let outcome = flags[source]?.waiting.map(Outcome.answer) ?? .unchanged
            _ = machine.handle(.fetchEnded(source, outcome, date: date), at: moment(time))
        }
        // A published decision means that the wait for first answers is over.
        if state.state != .undecided { _ = machine.handle(.startupWaitEnded, at: moment(now)) }
        return machine.explanation(of: service.name, at: moment(now))
    }

    /// The stored flags of a source: those in force, and a newer answer that waits for the next start.
    private typealias Flags = (inForce: Memory.StoredFlags, waiting: Answer?)

    private func flags(beside state: PublishedState) throws -> [SourceName: Flags] {
        var flags: [SourceName: Flags] = [:]
        for source in plan.sources {
            let mark = "\(published.directory)/\(FileName.source(source.name))"
            // Every binding is accepted: the daemon alone knows the credentials.
            let stored = store.flags(of: source.name, mark: mark, isBound: { _ in true })
            guard var kept = try stored.get() else { continue }
            kept.accepted = store.version(of: source.name)
            kept.disproved = try disproofs(of: kept.answers, by: signing[source.name])
            var waiting: Answer?
            if service.activation == .nextStart, let first = kept.answers.first,
                state.restsOnFlags(of: source.name, olderThan: first), kept.answers.count > 1
            {
                waiting = first
                kept.answers.removeFirst()
            }
            flags[source.name] = (kept, waiting)
        }
        return flags
    }

    /// Why the list of signers, as it is now, disproves stored answers; an unreadable list disproves nothing.
    private func disproofs(
        of answers: [Answer], by rule: SigningRule?
    ) throws -> [[UInt8]: String] {
        guard let rule else { return [:] }
        let zone = ZoneFiles.local
        let list = readable {
            try SignerFile(path: rule.signers, zone: { zone }, user: nil).read()
        }
        return list.map { SignedFlags.disproofs(of: answers, by: $0).mapValues(\.description) }
            ?? [:]
    }

    /// The time on both clocks, as if the wall clock had not been set since.
    private func moment(_ instant: Instant) -> Now {
        Now(
            wall: instant, boot: EventLoop.bootClock + (instant - published.now),
            isSynchronised: EventLoop.isClockSynchronised)
    }
}

extension Plan {
    /// The sources that a service uses.
    func sources(of service: Service) -> [SourcePlan] {
        knownSources.filter { source in service.switches.contains { $0.source == source.name } }
    }
}

extension PublishedState {
    /// Whether it was decided by flags of this source that are older than `answer`.
    fileprivate func restsOnFlags(of source: SourceName, olderThan answer: Answer) -> Bool {
        guard object.text("source") == source.text,
            let fetched = Instant(argument: object.text("fetched_at"))
        else { return false }
        return fetched + .seconds(1) <= answer.fetchedAt
    }
}
