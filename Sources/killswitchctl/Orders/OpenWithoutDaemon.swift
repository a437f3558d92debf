import Decision
import Gates
import JSON
import Storage
import SystemdUnits

/// `killswitchctl open SERVICE… --without-daemon`: opens gates while killswitchd does not run.
struct OpeningWithoutDaemon {
    /// The named services; nil for each that has files or attached units.
    private let services: [ServiceName]?
    private let common: CommonOptions
    /// Whether to print JSON: the marker that was renamed, the started target, and the result of its job.
    private let json: Bool

    init(_ services: [ServiceName]?, _ common: CommonOptions, json: Bool) {
        (self.services, self.common, self.json) = (services, common, json)
    }

    func run() throws {
        try requireRoot("open --without-daemon", because: "it starts targets of systemd")
        let published = try PublishedFiles(common)
        let manager: BlockingSystemdClient
        do { manager = try BlockingSystemdClient() } catch {
            // A daemon that runs opens the gate itself, where systemd cannot be asked too.
            if published.hasListener { throw try listening(published) }
            throw error
        }
        try checkThatNoDaemonRuns(published, manager)
        let targets = try services(of: published).map { service in
            guard let unit = GateTarget(service: service, kind: .open).unit else {
                throw published.unknown(service, among: try published.servicesIfAny())
            }
            if services != nil { try check(service, unit, published, manager) }
            return (service: service, unit: unit)
        }
        if targets.isEmpty { printError("no service has files, and no unit is attached") }
        // A unit of several services starts once no marker refuses it.
        let markers = try targets.map { target in
            try RuntimeDirectory.open(target.service, in: published.directory)
        }
        if !json {
            for marker in markers.compactMap(\.self) { printLine("renamed \(marker) to 'open'") }
        }
        var results: [(unit: UnitName, result: String?)] = []
        for (service, unit) in targets {
            let result = try manager.start(unit, within: .seconds(100))
            try RuntimeDirectory.removeUnavailable(of: service, in: published.directory)
            results.append((unit, result))
            if !json { printLine("\(result == nil ? "starting" : "started") \(unit)") }
        }
        if json {
            let reports = targets.indices.map { index -> JSON.Object in
                [
                    "service": .string(targets[index].service.text),
                    "marker": .optional(markers[index]),
                    "target": .string(targets[index].unit.text),
                    "result": .optional(results[index].result),
                ]
            }
            printJSON(
                services == nil || reports.count > 1 ? .objects(reports) : .object(reports[0]))
        }
        let failed = results.filter { $0.result.map { $0 != "done" } ?? false }
        for (unit, result) in failed {
            printError("start '\(unit)': the job ended as '\(result ?? "")'")
        }
        if !failed.isEmpty { throw CommandFailure(.no) }
    }

    /// The named services; with `--all` those of the daemon's files and of attached units.
    private func services(of published: PublishedFiles) throws -> [ServiceName] {
        if let services { return services }
        let attached = try AttachmentFiles.all().map(\.service)
        return try Set(published.servicesIfAny()).union(attached).sorted()
    }

    /// A running daemon would close the gate again, and a daemon that is just being restarted too.
    private func checkThatNoDaemonRuns(
        _ published: PublishedFiles, _ manager: BlockingSystemdClient
    ) throws {
        if let daemon = UnitName("killswitchd.service") {
            let active = try manager.describe(daemon).active
            guard active.isDown else {
                throw try refusal(
                    published, "\(daemon) is \(active.rawValue)", "'systemctl stop killswitchd'")
            }
        }
        if published.hasListener { throw try listening(published) }
    }

    private func listening(_ published: PublishedFiles) throws -> CommandFailure {
        try refusal(published, "a daemon listens in '\(published.directory)'", "stop it")
    }

    private func refusal(
        _ published: PublishedFiles, _ cause: String, _ stop: String
    ) throws -> CommandFailure {
        for service in services ?? [] {
            guard try published.state(of: service) == nil, let orphan = OrphanedService(service)
            else { continue }
            return CommandFailure(
                "\(cause), and '\(service)' is not configured, so that no order opens its gate; "
                    + orphan.problem.advice)
        }
        let names = services?.map(\.text).joined(separator: " ") ?? "--all"
        return CommandFailure(
            "\(cause): 'killswitchctl open \(names)' opens the gate; to open it without the daemon, "
                + "\(stop) first")
    }

    /// Throws for a service that no daemon has decided in this boot and that no unit is attached to.
    private func check(
        _ service: ServiceName, _ target: UnitName, _ published: PublishedFiles,
        _ manager: BlockingSystemdClient
    ) throws {
        if try !manager.snapshot(of: target).tied.isEmpty { return }
        if try !published.servicesIfAny().isEmpty { return try published.check(service) }
        throw CommandFailure(
            .noSuchService,
            "no such service '\(service)': no daemon has decided it, and no unit is attached to it")
    }
}
