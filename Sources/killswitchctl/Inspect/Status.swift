import ArgumentParser
import CivilTime
import Decision
import EventLoop
import Files
import JSON
import Storage

/// `killswitchctl status [SERVICE…]`
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of each service, and every problem with what to do.",
        discussion: """
            GATE: open, closing 1/3, closed, opening, or stuck (cannot be moved). AGE: time since \
            the source last confirmed the flags. UNITS: attached units \
            that follow the gate, and the slowest stop or start. DRILL, if a service has \
            drill_every: the age of its last good drill. Without a daemon it shows \
            what was published last, says so, and exits with 3.

            --check (monitoring): print only problems, exit 1 if there is any: gates, units, \
            unreadable flags, flags older than three intervals, refused configuration, full disk, \
            no daemon.

            example: killswitchctl status
            """)

    @OptionGroup var common: CommonOptions

    @Flag(
        help: """
            Print JSON: state.json of each service, with 'age' in seconds, 'current', 'gate_actual', \
            'armed', the attached 'units' and the last 'drill'; the 'sources'; and all 'problems'. With --check the problems alone.
            """) var json = false

    @Flag(
        help: """
            For monitoring: print a line for each problem, and exit with 1 if there is any.
            """) var check = false

    @Flag(
        help: """
            With --check: one line with performance data, and the exit status 0 (OK), 1 (WARNING), 2 \
            (CRITICAL) or 3 (UNKNOWN), for Nagios and what reads the same.
            """) var nagios = false

    @Argument(
        help: ArgumentHelp("The services; by default all of them.", valueName: "service"),
        completion: .services,
        transform: ServiceName.read)
    var services: [ServiceName] = []

    func validate() throws {
        guard !nagios || check && !json else {
            throw ValidationError("--nagios needs --check, and has no --json")
        }
    }

    func run() throws {
        if nagios { return try runNagios() }
        let published = try PublishedFiles(common)
        if check { return try runCheck(of: published) }
        let names = services.isEmpty ? try published.services() : services
        let host = PublishedHost(of: published, about: services)
        var rows: [StatusRow] = []
        var unreadable: [UnreadableState] = []
        for name in names {
            do {
                rows.append(try StatusRow(name, in: published))
            } catch let error as UnreadableState {
                unreadable.append(error)
            } catch  where OrphanedService(name) != nil {
                // It has no state, and a problem.
            }
        }
        if json {
            printReport(rows, host, in: published)
        } else {
            printTable(rows, host, at: published.now)
            if names.isEmpty, host.absence == nil {
                printError("no service is known yet in '\(published.directory)'")
            }
        }
        for problem in unreadable { printError("\(problem)") }
        if let absence = host.absence {
            printError(
                absence + (names.isEmpty ? "" : "\nShowing what killswitchd published last."))
        }
        // For scripts: services are missing from the output, or it says what was.
        if !unreadable.isEmpty { throw CommandFailure(.no) }
        if host.absence != nil { throw CommandFailure(.undecided) }
    }

    private func printReport(
        _ rows: [StatusRow], _ host: PublishedHost, in published: PublishedFiles
    ) {
        let sources = host.sources.map { source in
            let age = published.age(ofSource: source.text("source"))
            var object: JSON.Object = [
                "name": source["source"] ?? .null, "age": .optional(age?.wholeSeconds),
                "problem": source["error_message"] ?? .null,
            ]
            for (key, value) in source where !["source", "error_message"].contains(key) {
                object[key] = value
            }
            return object
        }
        let whole: JSON.Value = .object([
            "services": .array(rows.map { $0.json(with: host) }),
            "sources": .objects(sources),
            "configuration": .object(["refused": .optional(host.refusal)]),
            "problems": .objects(host.problems.map(\.object)),
            "daemon": .object(["problem": .optional(host.absence)]),
        ])
        printJSON(whole)
    }

    /// Problems of the whole host go to stderr, before the table. The others stand below it.
    private func printTable(_ rows: [StatusRow], _ host: PublishedHost, at now: Instant) {
        for problem in host.problems where problem.isOfHost && problem.kind != .noDaemon {
            printError("\(problem.line(at: now))\n    to do: \(problem.advice)")
        }
        if !rows.isEmpty { StatusRow.printTable(of: rows, with: host, at: now) }
        for row in rows { for line in row.keptUnits { printLine(line) } }
        for override in rows.compactMap(\.override) { printLine(override) }
        for row in rows {
            if let line = row.line(of: host.drills[row.service], at: now) { printLine(line) }
        }
        for problem in host.problems where !problem.isOfHost {
            printLine(problem.line(at: now))
            printLine("    to do: \(problem.advice)")
        }
    }

    /// `status --check`: prints a line for each thing that is not as wanted, and throws if there is any.
    private func runCheck(of published: PublishedFiles) throws {
        try checkServices(of: published)
        let alarms = try alarms(by: published)
        if json {
            printJSON(.objects(alarms.map(\.object)))
        } else {
            for alarm in alarms { printLine(alarm.line(at: published.now)) }
        }
        if !alarms.isEmpty { throw CommandFailure(.no) }
    }

    /// `status --check --nagios`: what keeps it from finding out is its answer too.
    private func runNagios() throws {
        let report: NagiosReport
        do {
            let published = try PublishedFiles(common)
            try checkServices(of: published)
            let alarms = try alarms(by: published)
            let names = services.isEmpty ? try published.servicesIfAny() : services
            report = NagiosReport(
                alarms,
                of: names.compactMap { name in readable { try published.state(of: name) } ?? nil })
        } catch {
            report = NagiosReport(unknown: CommandFailure(error).message)
        }
        printLine(report.line)
        if report.status != .success { throw CommandFailure(report.status) }
    }

    /// Throws if one of the named services does not exist.
    private func checkServices(of published: PublishedFiles) throws {
        let names = try published.servicesIfAny()
        let known = Set(names)
        for service in services
        where !known.isEmpty && !known.contains(service) && OrphanedService(service) == nil {
            throw published.unknown(service, among: names)
        }
    }

    private func alarms(by published: PublishedFiles) throws -> [ProblemLine] {
        var published = published
        let stream = try PublishedStream(of: [], in: published, on: EventLoop())
        // How long a restart of the daemon may take.
        let _: Void? = try stream.until(.seconds(5)) {
            published.updateTime()
            stream.checkAgain(after: .milliseconds(200))
            return published.absence == nil ? () : nil
        }
        let host = PublishedHost(of: published, about: services)
        var alarms = host.problems.filter(\.isAlarm)
        if let absence = host.absence, !alarms.contains(where: { $0.kind == .noDaemon }) {
            alarms.insert(ProblemLine(.host, .noDaemon, absence), at: 0)
        }
        let names = services.isEmpty ? try published.servicesIfAny() : services
        for service in names {
            do { _ = try published.state(of: service) } catch {
                alarms.append(ProblemLine(.service(service), .unreadableState, "\(error)"))
            }
        }
        return alarms
    }
}
