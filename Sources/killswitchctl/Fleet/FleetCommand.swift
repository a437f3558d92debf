import ArgumentParser
import CivilTime
import Configuration
import Decision
import EventLoop
import Files
import Fleet
import JSON
import SourceSettings

/// `killswitchctl fleet SERVICE`
struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Show which hosts have not obeyed, and why.",
        discussion: """
            Asks a Prometheus that scrapes the hosts, or etcd where they say what they are, or reads a \
            folder of reports. A host has obeyed \
            if it has said so itself, lately. Prints a line for each other host: failed, late, \
            silent, unknown, or not in the inventory; and the sum.

            Conditions are those of 'wait'. Without --for: gate and units as each host has decided \
            itself, and all hosts alike.

            Exit status: 0 enough hosts have obeyed; 1 not enough; 124 not by the timeout.

            example: killswitchctl fleet shop --for down --inventory hosts.txt --wait --timeout 75s
            """)

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "The condition: down, up, open, closed, or the word of a state.", valueName: "condition"
        ),
        completion: .list(WaitCondition.ofFleets), transform: WaitCondition.readOfFleet)
    var condition: WaitCondition?

    @Option(
        name: .customLong("flags-version"),
        help: "The version of the flags by which hosts must have decided; default: any.")
    var version: String?

    @Option(
        help: ArgumentHelp(
            "Ask this Prometheus; default: that of [fleet], else \(PrometheusReader.defaultURL).",
            valueName: "url"))
    var prometheus: String?

    @Option(
        help: ArgumentHelp(
            "Read what hosts say in etcd, by this source of the configuration.",
            valueName: "source")) var etcd: String?

    @Option(
        help: ArgumentHelp(
            "The configuration with [fleet] and that source; default: the system's.",
            valueName: "file"),
        completion: .file()) var config: String?

    @Option(
        help: ArgumentHelp(
            "Read the last report of each host in this directory.", valueName: "directory"),
        completion: .directory) var reports: String?

    @Option(
        help: ArgumentHelp(
            """
            The hosts that there should be: a file, a name a line; '#' begins a comment. Default: that \
            of [fleet].
            """, valueName: "file"),
        completion: .file()) var inventory: String?

    @Flag(help: "Wait until enough hosts have obeyed.") var wait = false

    @Option(
        help: ArgumentHelp(
            "With --wait: longest wait, such as 75s; default: no limit.", valueName: "duration"),
        transform: DurationArgument.read) var timeout: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "How many hosts are enough: a percentage or a number; default: all.", valueName: "share"
        ),
        transform: Quorum.read) var atLeast: Quorum?

    @Flag(help: "Print JSON, with the hosts that have obeyed too.") var json = false

    @Argument(help: "The service.", completion: .services, transform: ServiceName.read)
    var service: ServiceName

    func validate() throws {
        if timeout != nil, !wait { throw ValidationError("--timeout needs --wait") }
        guard [prometheus, reports, etcd].count(where: { $0 != nil }) < 2 else {
            throw ValidationError("give one of --prometheus, --etcd and --reports")
        }
        if let prometheus, let mistake = PrometheusReader.mistake(in: prometheus) {
            throw ValidationError(
                "the value '\(prometheus.withoutSecrets)' is invalid for '--prometheus <url>': \(mistake)"
            )
        }
    }

    func run() throws {
        let demand = Demand(condition?.demanded ?? .own, version: version)
        let defaults = try defaults()
        let expected = try (inventory ?? defaults?.inventory).map(Inventory.read)
        let reader = try reader(defaults)
        let clock = try FleetClock(limit: timeout?.duration)
        while true {
            let begin = clock.loop.now
            let rollCall: RollCall
            do {
                rollCall = RollCall(try reader.read(within: clock.left), demand, expected)
            } catch {
                rollCall = RollCall(unread: CommandFailure(error).message, expected)
            }
            let report = FleetReport(
                rollCall, of: service, condition, version, atLeast ?? .all, from: reader.place,
                at: begin.wall)
            let took = clock.loop.now.boot - begin.boot
            if wait, !report.isEnough {
                let pause = max(reader.pause, took * 5)
                if try clock.sleep(pause, keeping: took * 2, report.sum) { continue }
            }
            if json { printJSON(report.json) } else { report.printTable() }
            if report.isEnough { return }
            guard !wait else {
                throw CommandFailure(
                    .timedOut, "not enough hosts have obeyed within \(timeout?.description ?? "")")
            }
            throw CommandFailure(.no)
        }
    }

    /// `[fleet]` of the configuration; nil if it cannot be read, which only matters where it was named.
    private func defaults() throws -> FleetSettings? {
        do {
            return try FleetSettings(reading: config.map(ConfigurationPlaces.beside) ?? .standard)
        } catch {
            if config != nil { throw CommandFailure(.configuration, "\(error)") }
            let path = ConfigurationPlaces.standard.main
            if try File.exists(path) { printError("[fleet] is not read: \(error)") }
            return nil
        }
    }

    private func reader(_ defaults: FleetSettings?) throws -> any FleetReader {
        if let reports { return try ReportReader(reports, service) }
        if let etcd { return try EtcdReader(etcd, in: config, service) }
        return try PrometheusReader(prometheus ?? defaults?.prometheus, service)
    }
}

/// The time of a wait with a timeout, or without one.
private struct FleetClock {
    let loop: EventLoop
    private let start: Boottime
    private let limit: Duration?

    init(limit: Duration?) throws {
        loop = try EventLoop()
        start = loop.now.boot
        self.limit = limit
    }

    private var waited: Duration { loop.now.boot - start }

    /// How long a reading may last.
    var left: Duration { limit.map { max(.milliseconds(1), $0 - waited) } ?? .seconds(3600) }

    /// Waits before the next reading, or to the timeout if it leaves less time for one than `room`: a reading that it
    /// cuts short would know less than the last one. Returns whether a reading is left. A terminal shows the wait.
    func sleep(_ pause: Duration, keeping room: Duration, _ words: String) throws -> Bool {
        let room = max(.seconds(1), room)
        let isLast = limit.map { $0 - waited <= room } ?? false
        let end = loop.now.boot + (isLast ? left : min(pause, left - room))
        defer { Terminal.showProgress(nil) }
        while loop.now.boot < end {
            Terminal.showProgress("\(words); waiting \(waited.wholeSeconds) s")
            try loop.runOnce(min(.seconds(1), end - loop.now.boot))
        }
        return !isLast
    }
}

extension WaitCondition {
    /// The words for many hosts: hosts that have decided need not have decided alike.
    fileprivate static let ofFleets = allValueStrings.filter { $0 != "decided" }

    fileprivate static func readOfFleet(_ word: String) throws -> WaitCondition {
        guard ofFleets.contains(word), let condition = WaitCondition(argument: word) else {
            throw ValidationError("there are: \(ofFleets.joined(separator: ", "))")
        }
        return condition
    }

    /// What each host of a fleet has to be; nil for `decided`.
    fileprivate var demanded: Demand.Condition? {
        switch self {
        case .gate(let gate): .gate(gate)
        case .effect(let gate): .effect(gate)
        case .state(let state): .state(state)
        case .decided: nil
        }
    }
}

extension Quorum {
    fileprivate static func read(_ word: String) throws -> Quorum {
        guard let quorum = Quorum(word) else {
            throw ValidationError(
                "write a percentage up to 100%, such as 99%, or a number of hosts")
        }
        return quorum
    }
}

extension Inventory {
    /// About 100,000 names.
    private static let mostBytes = 4 << 20

    /// Reads the file that an operator names.
    static func read(_ path: String) throws -> Inventory {
        let bytes = try orFail(.usage) { try File.read(path, limit: mostBytes) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.usage, "\(path): it is not UTF-8")
        }
        do { return try Inventory(text) } catch {
            let line = error.line.map { ":\($0)" } ?? ""
            throw CommandFailure(.usage, "\(path)\(line): \(error)")
        }
    }
}
