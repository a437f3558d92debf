import ArgumentParser
import CivilTime
import Configuration
import Decision
import EventLoop
import Files
import JSON
import Pages

/// `killswitchctl plan [[SOURCE=]FILE…]`
struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show what a document would do, and when. Nothing is changed.",
        discussion: """
            The document is read by the services of the configuration that read it, or by one format, on \
            a machine without a configuration. Prints for each service what it would be and when, \
            which units stop and how long that took last time, what would hold it, and what its users \
            see. Sources of which no document is given keep the flags of this host, as far as you may \
            read them. Without a document it shows what the present flags lead to.

            With --hosts or --inventory it shows how many hosts a rollout closes, and when. Hosts fall \
            into slots by chance, so that of a few hosts some more or fewer may be closed.

            Exits with 1 if hosts would refuse the document; with --strict also if it has a member \
            that nobody reads.

            example: killswitchctl plan new.json --format switch --until 2027-12-31T00:00:00Z
            """)

    @Argument(
        help: ArgumentHelp(
            """
            The document: a file; '-' is standard input. The name of its source is needed where \
            several are read.
            """,
            valueName: "[source=]file"), completion: .file()) var documents: [String] = []

    @OptionGroup(title: "By a format") var reading: FormatOptions

    @OptionGroup(title: "By the configuration") var configured: ConfiguredOptions

    @OptionGroup(title: "On many hosts") var fleet: HostsOptions

    @Option(
        help: ArgumentHelp(
            "The time at which it begins, by RFC 3339; without it now.", valueName: "time"),
        transform: Instant.read)
    var at: Instant?

    @Option(
        help:
            "Show every change up to this time; without it for a year, and with --at of that moment.",
        transform: Instant.read)
    var until: Instant?

    @Option(
        help: ArgumentHelp(
            """
            The slot of the host, 0 to 999,999, for flags with a rollout; without it this host's \
            own, and with --format 0: the first host that a rollout reaches.
            """), transform: Slot.read)
    var slot: Slot?

    @Flag(help: "Fail if the document has a member that nobody reads.") var strict = false

    @Flag(help: "Print JSON.") var json = false

    @Flag(help: "Print Markdown, as for a comment on a change.") var markdown = false

    @Option(
        help: ArgumentHelp("Write the page that users would see to this file.", valueName: "file"),
        completion: .file()) var page: String?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if reading.format != nil {
            guard configured.isUnused else {
                throw ValidationError(
                    "--format is for a document without a configuration: remove --config, --service, "
                        + "--silent and --ask-guards")
            }
            guard documents.count == 1 else {
                throw ValidationError("give one document to read by the format")
            }
        } else {
            guard reading.isUnused else {
                throw ValidationError("these options need --format; a configuration says it itself")
            }
        }
        guard !json || !markdown else {
            throw ValidationError("give --json or --markdown, not both")
        }
        if let at, let until, until < at { throw ValidationError("--until is before --at") }
    }

    func run() throws {
        let start = at ?? EventLoop.wallClock
        let subject = try PlanSubject(self, at: start)
        for line in subject.gaps { printError(line) }
        var plans = try subject.services.map {
            try PlannedService($0, of: subject, self, at: start)
        }
        plans.holdTogether(by: subject.limits)
        if configured.asksGuards { try plans.askGuards(of: subject) }
        let hosts = try plans.compactMap { try PlannedHosts($0, of: subject, fleet) }
        if fleet.isWanted, hosts.isEmpty {
            printError("no order has a rollout: it reaches every host at once")
        }
        if let page { try write(plans, to: page, subject) }
        let report = PlanReport(
            plans: plans, hosts: hosts, unknown: subject.unknown,
            end: end(at: start) > start ? end(at: start) : nil
        )
        if json {
            printJSON(report.json)
        } else {
            printLines(markdown ? report.markdown : report.text)
            if !markdown { for problem in report.problems { printError(problem) } }
        }
        try flushOutput()
        DrillNotice.show(
            about: subject.settings == nil ? nil : subject.services.map(\.name), in: common)
        if report.isRefused || strict && !subject.unknown.isEmpty { throw CommandFailure(.no) }
    }

    /// Until when changes are shown.
    func end(at start: Instant) -> Instant {
        until ?? configured.silent.map { start + $0.duration }
            ?? (at == nil ? start + .seconds(366 * 86_400) : start)
    }

    /// The host whose verdict is shown. A rollout without a seed depends on names that a bare format does not have.
    var place: HostPlace {
        if let slot { return .fixed(slot) }
        return reading.format == nil
            ? HostIdentity.place : Slot(0).map { .fixed($0) } ?? .named("")
    }

    /// Writes the page of the first closing, or of the first verdict.
    private func write(_ plans: [PlannedService], to path: String, _ subject: PlanSubject) throws {
        guard plans.count == 1, let plan = plans.first,
            let record = plan.closing ?? plan.records.first
        else { throw CommandFailure(.usage, "--page is of one service: choose it by --service") }
        let page = subject.pages[plan.service.name] ?? .standard
        try File.replace(path, with: page.bytes(of: record, for: plan.service))
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

/// The format of the document, without a configured service.
struct FormatOptions: ParsableArguments {
    @Option(help: "How it is read: service-end, boolean, status, maintenance or switch.")
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

/// The configuration that says how the document is read.
struct ConfiguredOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration; without it the system's.", valueName: "file"))
    var config: String?

    @Option(
        name: .customLong("service"),
        help: "A service of it; without one every service that reads the document. Repeatable.",
        completion: .services, transform: ServiceName.read)
    var services: [ServiceName] = []

    @Option(
        help: ArgumentHelp(
            "The sources do not answer for so long, so that the flags grow old, such as 2d.",
            valueName: "duration"), transform: DurationArgument.read)
    var silent: DurationArgument?

    @Flag(name: .customLong("ask-guards"), help: "Ask the guards now, and show what they answer.")
    var asksGuards = false

    @Option(
        help: ArgumentHelp(
            "The daemon's state directory, where the flags of this host are stored.",
            valueName: "directory"))
    var stateDirectory: String?

    var isUnused: Bool {
        config == nil && services.isEmpty && silent == nil && !asksGuards && stateDirectory == nil
    }
}
