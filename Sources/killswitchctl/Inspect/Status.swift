import ArgumentParser
import CivilTime
import Decision
import JSON
import Storage

/// `killswitchctl status [SERVICE…]`
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of each service, and every problem with what to do.",
        discussion: """
            GATE: open, closing 1/3, closed, opening, or stuck (cannot be moved). AGE: time since \
            the source last confirmed the flags. NEXT: time to the next fetch. UNITS: attached \
            units that follow the gate, and the slowest stop or start. Without a daemon it shows \
            what was published last, and says so; exit status 1 if no daemon has decided anything \
            since the boot.

            --check (monitoring): print only problems, exit 1 if there is any: gates, units, \
            unreadable flags, flags older than three intervals, refused configuration, full disk, \
            no daemon.

            example: killswitchctl status
            """)

    @OptionGroup var common: CommonOptions

    @Flag(
        help: """
            Print JSON: state.json of each service, with 'age' and 'next_poll' in seconds, 'current', \
            'gate_actual', the attached 'units' and the last 'drill'; the 'sources'; and all \
            'problems'. With --check the problems alone.
            """) var json = false

    @Flag(
        help: """
            For monitoring: print a line for each problem, and exit with 1 if there is any.
            """) var check = false

    @Argument(
        help: "The services; by default all of them.", completion: .services,
        transform: ServiceName.read)
    var services: [ServiceName] = []

    func run() throws {
        let published = try PublishedFiles(common)
        if check { return try HealthCheck(of: published, about: services).run(json: json) }
        let names = services.isEmpty ? try published.services() : services
        let daemon = DaemonReport(of: published, about: services)
        var rows: [StatusRow] = []
        var unreadable: [UnreadableState] = []
        for name in names {
            do {
                rows.append(try StatusRow(name, in: published, daemon.sources))
            } catch let error as UnreadableState {
                unreadable.append(error)
            } catch  where OrphanedService(name) != nil {
                // It has no state, and a problem.
            }
        }
        if json {
            let refusal = try RuntimeDirectory.refusal(in: published.directory)
            printReport(rows, daemon, refusal: refusal)
        } else {
            printTable(rows, daemon, at: published.now)
            if names.isEmpty, !daemon.isGone {
                printError("no service is known yet in '\(published.directory)'")
            }
        }
        for problem in unreadable { printError("\(problem)") }
        if let absence = daemon.absence {
            printError(
                absence + (names.isEmpty ? "" : "\nShowing what killswitchd published last."))
        }
        // The exit status shows a script that some services are missing from the output, or that no daemon has
        // decided anything.
        let isUndecided = daemon.isGone && rows.allSatisfy { $0.state.state == .undecided }
        if !unreadable.isEmpty || isUndecided { throw CommandFailure(.no) }
    }

    private func printReport(_ rows: [StatusRow], _ daemon: DaemonReport, refusal: String?) {
        let whole: JSON.Value = .object([
            "services": .array(rows.map { $0.json(with: daemon) }),
            "sources": daemon.absence == nil
                ? .array(daemon.sources.followed(by: rows).map { .object($0.object) }) : .null,
            "configuration": .object(["refused": .optional(refusal)]),
            "problems": .array(daemon.problems.map { .object($0.object) }),
            "daemon": .object([
                "problem": .optional(daemon.absence),
                "descriptors": .optional(daemon.process?.used),
                "descriptor_limit": .optional(daemon.process?.limit),
            ]),
        ])
        printJSON(whole)
    }

    /// Problems of the whole host go to stderr, before the table. The others stand below it.
    private func printTable(_ rows: [StatusRow], _ daemon: DaemonReport, at now: Instant) {
        for problem in daemon.problems where problem.isOfHost && problem.kind != .noDaemon {
            printError("\(problem.line(at: now))\n    to do: \(problem.advice)")
        }
        if !rows.isEmpty { StatusTable(rows: rows).show() }
        for row in rows { for line in row.keptUnits { printLine(line) } }
        for override in rows.compactMap(\.override) { printLine(override) }
        for row in rows {
            let drill = daemon.drills[row.service.text]
            if let line = drill?.line(of: row.service, at: now) { printLine(line) }
        }
        for problem in daemon.problems where !problem.isOfHost {
            printLine(problem.line(at: now))
            printLine("    to do: \(problem.advice)")
        }
    }
}

extension [SourceReply] {
    /// The sources that a service in the table follows.
    fileprivate func followed(by rows: [StatusRow]) -> [SourceReply] {
        let shown = Set(rows.map(\.service.text))
        return filter { !shown.isDisjoint(with: $0.services) }
    }
}

/// The daemon's process in its reply.
struct ProcessReply {
    /// How many descriptors it has open.
    let used: Int64
    /// How many it may have open.
    let limit: Int64

    /// Nil if the daemon cannot tell.
    init?(_ object: JSON.Object) {
        guard let used = object["descriptors"]?.number?.int64,
            let limit = object["descriptor_limit"]?.number?.int64
        else { return nil }
        self.used = used
        self.limit = limit
    }
}

/// A source in a reply of the daemon.
struct SourceReply {
    /// The whole object.
    let object: JSON.Object

    /// The name.
    var name: String { object.text("name") }
    /// How long ago it confirmed its flags; nil if it never did.
    var age: Duration? { seconds("age") }
    /// The time until the next fetch; nil while one is in flight.
    var nextPoll: Duration? { seconds("next_poll") }
    /// Why the last fetch failed; nil if it did not.
    var problem: String? { object["problem"]?.string }
    /// The warnings about it and its flags.
    var warnings: [String] { object.strings("warnings") }
    /// The services that follow it.
    var services: [String] { object.strings("services") }

    private func seconds(_ key: String) -> Duration? {
        object[key]?.number?.int64.map { .seconds($0) }
    }
}
