import CivilTime
import Decision
import Files
import JSON
import Records
import Settings
import SystemConfiguration

/// What the daemon has stored, given to the machine once more: the configuration it accepted last,
/// the flags, the overrides. So an explanation needs no daemon, and comes from the code that decides.
struct StoredChain {
    private let service: Service
    private let plan: Plan
    private let state: StateDirectory
    private let published: Published

    init(
        of name: ServiceName, in directory: String, _ published: Published
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

    /// The way to what was published as `state`.
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
        // Where a decision was made, nobody waits any more.
        if state.state != .undecided { _ = machine.handle(.patienceEnded, at: moment(now)) }
        return machine.explanation(of: service.name, at: moment(now))
    }

    /// The stored flags of one source: those that count, and newer ones that wait for a start.
    private struct Flags {
        var inForce: Memory.Kept?
        var waiting: Answer?
    }

    private func flags(
        beside state: PublishedState
    ) throws(CommandFailure) -> [SourceName: Flags] {
        var flags: [SourceName: Flags] = [:]
        // Whether they were fetched by the credentials of today is the daemon's to ask.
        for source in plan.sources {
            guard
                var kept = try restored({ () throws(FileError) in
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

    private func memory(_ flags: [SourceName: Memory.Kept]) throws(CommandFailure) -> Memory {
        Memory(
            flags: flags, ledger: try restored(state.ledger) ?? Ledger(),
            overrides: try restored(state.overrides) ?? [:])
    }

    /// When each source last confirmed its flags in this boot.
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

    /// Both clocks agree here: only how long ago something was is of interest.
    private func moment(_ instant: Instant) -> Now {
        Now(wall: instant, boot: Boottime(microseconds: instant.microseconds))
    }

    private func installed(_ path: String) throws(CommandFailure) -> Version? {
        do {
            return try VersionFile.version(in: path)
        } catch {
            throw CommandFailure(.no, "\(error)")
        }
    }

    /// The configuration that the daemon accepted last.
    private static func settings(_ state: StateDirectory) throws(CommandFailure) -> Settings {
        let kept = try restored(state.keptConfiguration)
        guard let kept else {
            throw CommandFailure(.no, "no configuration is kept in '\(state.path)'")
        }
        do {
            return try Configuration(
                ConfigurationFiles(kept.map { .init(path: $0.path, bytes: $0.bytes) })
            ).settings
        } catch {
            throw CommandFailure(.no, "\(error)")
        }
    }
}

/// What came back of a stored file; nil where there is none.
private func restored<Value>(
    _ read: () throws(FileError) -> Restored<Value>
) throws(CommandFailure) -> Value? {
    do {
        switch try read() {
        case .value(let value): return value
        case .nothing: return nil
        case .unreadable(let problem): throw CommandFailure(.no, problem)
        }
    } catch let failure as CommandFailure {
        throw failure
    } catch {
        throw CommandFailure(.no, "\(error)")
    }
}

extension PublishedState {
    /// Whether it was decided by flags of this source that were fetched before `answer`.
    fileprivate func restsOnFlags(of source: SourceName, olderThan answer: Answer) -> Bool {
        guard object["source"]?.string == source.text, let text = object["fetched_at"]?.string,
            case .success(let fetched) = Result(catching: { try Instant(rfc3339: text) })
        else { return false }
        return fetched + .seconds(1) <= answer.fetchedAt
    }
}
