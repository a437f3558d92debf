import ArgumentParser
import Control
import Decision
import Files
import Gates
import Glibc
import JSON
import Records

/// `killswitchctl unlock SERVICE`
struct Unlock: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Open the gate of a service while killswitchd does not run.",
        discussion: """
            The way out without the daemon, for root: removes the marker 'closed' of the service, \
            which refuses every start of an attached unit, and starts the target of the open gate, \
            which starts the units. While the daemon runs use 'force' or 'release'. When the daemon \
            starts again, its flags decide.

            example: killswitchctl unlock shop
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Print JSON: the removed marker, the started target, and the result of its job.")
    var json = false

    @Argument(help: "The service.", completion: .services, transform: ServiceName.read)
    var service: ServiceName

    func run() throws {
        guard geteuid() == 0 else {
            throw CommandFailure(.notPermitted, "unlock needs root: it starts a target of systemd")
        }
        let published = try PublishedFiles(common)
        let manager = try SystemManager()
        try checkThatNoDaemonRuns(published, manager)
        let target = GateTarget(service: service, kind: .open)
        guard let unit = target.unit else {
            throw published.unknown(service, among: try published.servicesIfAny())
        }
        try check(unit, published, manager)
        let marker = try RuntimeDirectory.removeClosedMarker(of: service, in: published.directory)
        let result = try manager.start(unit, within: .seconds(100))
        if json {
            say(report(marker, on: target, result))
        } else {
            if let marker { say("removed \(marker)") }
            say("\(result == nil ? "starting" : "started") \(unit)")
        }
        if let result, result != "done" {
            throw CommandFailure(.no, "start '\(unit)': the job ended as '\(result)'")
        }
    }

    private func report(_ marker: String?, on target: GateTarget, _ result: String?) -> JSON.Value {
        .object([
            "service": .string(service.text), "marker": .optional(marker),
            "target": .string(target.name), "result": .optional(result),
        ])
    }

    /// A running daemon would close the gate again, and a daemon that is just being restarted too.
    private func checkThatNoDaemonRuns(
        _ published: PublishedFiles, _ manager: SystemManager
    ) throws {
        if let daemon = UnitName("killswitchd.service") {
            let active = try manager.describe(daemon).active
            guard active.isDown else {
                throw refusal("\(daemon) is \(active.rawValue)", "'systemctl stop killswitchd'")
            }
        }
        if published.daemon(timeout: .seconds(2)).isThere {
            throw refusal("a daemon listens in '\(published.directory)'", "stop it")
        }
    }

    private func refusal(_ cause: String, _ stop: String) -> CommandFailure {
        CommandFailure(
            .no,
            "\(cause): 'killswitchctl force \(service) running' opens the gate; to unlock it "
                + "without the daemon, \(stop) first")
    }

    /// Throws for a service that no daemon has decided in this boot and that no unit is attached to.
    private func check(
        _ target: UnitName, _ published: PublishedFiles, _ manager: SystemManager
    ) throws {
        if try !manager.snapshot(of: target).requisiteOf.isEmpty { return }
        if try File.exists(published.directory) { return try published.check(service) }
        throw CommandFailure(
            .noSuchService,
            "no such service '\(service)': no daemon has decided it, and no unit is attached to it")
    }
}

extension VarlinkClient {
    /// Whether a daemon listens at the socket, also if it does not answer.
    fileprivate var isThere: Bool {
        do {
            _ = try call("Sources")
            return true
        } catch {
            return (error as? SocketError)?.isNobodyThere != true
        }
    }
}
