import ArgumentParser
import CivilTime
import Configuration
import Decision
import EventLoop
import JSON

/// `killswitchctl simulate --flags FILE …`
struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the verdict for given flags at a given time. Nothing is changed.",
        discussion: """
            The flags are read by a format, or by a service of the configuration with all of its \
            switches and its policy. With --until every change of the verdict up to that time is \
            printed: ends, windows, flags that expire.

            Exits with 1 if the flags are no order: check flags before you publish them. \
            Members that nobody reads are named; with --strict they fail too.

            example: killswitchctl simulate --flags new.json --format switch \
            --until 2027-12-31T00:00:00Z
            """)

    @Option(
        help: ArgumentHelp(
            """
            The flags: a JSON file, for every source of the service or for one; '-' is standard \
            input. Repeatable.
            """,
            valueName: "[source=]file")) var flags: [String]

    @OptionGroup(title: "By a format") var reading: FormatOptions

    @OptionGroup(title: "By a service") var configured: ServiceOptions

    @Option(help: "The time of the verdict, by RFC 3339; without it now.", transform: Instant.read)
    var at: Instant?

    @Option(help: "Print every change of the verdict up to this time.", transform: Instant.read)
    var until: Instant?

    @Option(
        help: ArgumentHelp(
            """
            The slot of the host, 0 to 999,999, for flags with a rollout; without it this host's \
            own, and with --format 0: the first host that a rollout reaches.
            """), transform: Slot.read)
    var slot: Slot?

    @Flag(help: "Fail if the flags have a member that nobody reads.") var strict = false

    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard !flags.isEmpty else { throw ValidationError("give the flags: --flags FILE") }
        switch (reading.format, configured.service) {
        case (nil, nil):
            throw ValidationError("give a format or a service: --format FORMAT or --service NAME")
        case (.some, .some): throw ValidationError("give --format or --service, not both")
        case (nil, .some):
            guard reading.isUnused else {
                throw ValidationError("remove the options of --format: the service sets them")
            }
        case (.some, nil):
            guard configured.isUnused else {
                throw ValidationError("--config and --silent need --service")
            }
        }
        if let at, let until, until < at { throw ValidationError("--until is before --at") }
    }

    func run() throws {
        let start = at ?? EventLoop.wallClock
        let subject = try SimulatedService(self, at: start)
        for source in subject.sources.map(\.name) where subject.answers[source] == nil {
            printError("source '\(source)' has no flags: as if it never answered")
        }
        var simulation = Simulation(
            subject.service, sources: subject.sources, answers: subject.answers,
            installed: subject.installed, on: place, within: subject.slots, at: start,
            isSilent: configured.silent)
        let records = simulation.records(until: until ?? start)
        let report = SimulationReport(
            service: subject.service, records: records, notices: simulation.notices,
            unknown: subject.unknown)
        if json {
            printJSON(report.json)
        } else {
            printLines(report.text(isTimeline: until != nil))
            for problem in report.problems { printError(problem) }
        }
        if report.isRefused || strict && !subject.unknown.isEmpty { throw CommandFailure(.no) }
    }

    /// The host whose verdict is shown. A rollout without a seed depends on names that a bare format does not have.
    private var place: HostPlace {
        if let slot { return .fixed(slot) }
        return configured.service == nil
            ? Slot(0).map { .fixed($0) } ?? .named("") : HostIdentity.place
    }
}

extension Slot {
    fileprivate static func read(_ text: String) throws -> Slot {
        guard let slot = Int(text).flatMap({ Slot($0) }) else {
            throw ValidationError("a slot is a whole number from 0 to 999999")
        }
        return slot
    }
}

/// The format of the flags, without a configured service.
struct FormatOptions: ParsableArguments {
    @Option(help: "How the flags are read: service-end, boolean, status, maintenance or switch.")
    var format: FormatWord?

    @Option(help: "The key of the flags that the format reads.") var key: String?

    @Option(
        help: ArgumentHelp(
            "Of format boolean: the value that closes.", valueName: "true|false"))
    var closedWhen: ClosingValue?

    @Option(help: "Of format boolean: the state when it is closed; without it maintenance.")
    var closedState: ClosedState?

    @Option(help: "Of format service-end: the key that holds the date.") var countdownKey: String?

    @Option(help: "The time zone that days are counted in; without it the system's.")
    var timeZone: String?

    @Option(help: "The version that is installed.") var installedVersion: String?

    /// Whether no option but the format is given.
    var isUnused: Bool {
        key == nil && closedWhen == nil && closedState == nil && countdownKey == nil
            && timeZone == nil && installedVersion == nil
    }

    /// The format with its options; nil without one.
    var chosen: Format? {
        format?.format(
            key: key, countdownKey: countdownKey, closedWhen: closedWhen != .false,
            closedState: closedState ?? .maintenance)
    }

    func validate() throws {
        guard let format else { return }
        if countdownKey != nil, format != .serviceEnd {
            throw ValidationError("--countdown-key belongs to format service-end")
        }
        if format == .boolean {
            guard closedWhen != nil else {
                throw ValidationError("say which value closes: --closed-when true, or false")
            }
        } else if closedWhen != nil || closedState != nil {
            throw ValidationError("--closed-when and --closed-state belong to format boolean")
        }
    }
}

/// The value of a Boolean that closes a service.
enum ClosingValue: String, CaseIterable, ExpressibleByArgument { case `true`, `false` }

extension ClosedState: ExpressibleByArgument {}

/// The configured service that says how the flags are read.
struct ServiceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration; without it the system's.", valueName: "file"))
    var config: String?

    @Option(
        help: "A service of the configuration.", completion: .services, transform: ServiceName.read)
    var service: ServiceName?

    @Flag(help: "The sources do not answer any more, so that the flags grow old.")
    var silent = false

    /// Whether no option but the service is given.
    var isUnused: Bool { config == nil && !silent }
}

/// The output of `simulate`.
struct SimulationReport {
    let service: Service
    /// The verdict at the start, and each change of it.
    let records: [PublishedVerdict]
    /// The lines that the daemon would log.
    let notices: [LogMessage]
    /// The members that nobody reads, each with its source.
    let unknown: [UnknownMember]

    /// A member that looks like a known one is told by the reading already.
    var problems: [String] {
        let warnings = notices.map { notice in
            // Which source it is says enough.
            if case .came(let finding) = notice, finding.kind == .sourceWarning {
                return finding.text
            }
            return notice.sentence
        }
        return warnings
            + unknown.filter { member in !warnings.contains { member.isNamed(in: $0) } }
            .map(\.sentence)
    }

    /// Whether a flag could not be read, so that the daemon would keep the last known good ones.
    var isRefused: Bool {
        notices.contains { notice in
            guard case .came(let finding) = notice else { return false }
            return finding.kind == .invalidAnswer || finding.kind == .valueInvalid
        }
    }

    /// The text for people: each change in a line, or the one verdict at length.
    func text(isTimeline: Bool) -> String {
        if isTimeline { return records.map(line).joined(separator: "\n") }
        return records.first.map(whole) ?? ""
    }

    private func line(_ record: PublishedVerdict) -> String {
        let verdict = record.verdict
        let texts = [verdict.texts.title, verdict.texts.message].compactMap { $0.map(quoted) }
        return "\(service.zone.rfc3339(record.decidedAt)) \(verdict.state.rawValue), "
            + "\(verdict.gate?.rawValue ?? "no gate"): "
            + ([verdict.reason.sentence] + texts).joined(separator: "; ")
    }

    private func whole(_ record: PublishedVerdict) -> String {
        let verdict = record.verdict
        let published = PublishedFacts(record, of: service.name)
        var lines = LabelledLines()
        for field in PublishedFacts.fields(on: .shell) {
            let value = field.value(in: published)
            let text = value.text(in: service.zone)
            switch field.name {
            case "gate": lines.add("gate", text ?? "none")
            case "reason": lines.add("reason", "\(text ?? ""): \(verdict.reason.sentence)")
            case "author": lines.add("author", text)
            default: lines.add(field.name, text?.printable(limit: 100))
            }
        }
        for (name, value) in verdict.values {
            lines.add("values.\(name)", value.serialized(.compact).printable(limit: 100))
        }
        return lines.text
    }

    var json: JSON.Value {
        .object([
            "service": .string(service.name.text),
            "changes": .array(records.map(change)),
            "problems": .strings(problems),
        ])
    }

    /// A change, by the members of state.json that depend on flags and time.
    private func change(_ record: PublishedVerdict) -> JSON.Value {
        let published = PublishedFacts(record, of: service.name)
        var change: JSON.Object = ["time": .string(service.zone.rfc3339(record.decidedAt))]
        for field in PublishedFacts.fields(on: .simulate) {
            change[field.name] = field.value(in: published).json(in: service.zone)
        }
        return .object(change)
    }
}
