import CivilTime
import Configuration
import ControlSocket
import Decision
import Files
import JSON
import Storage
import SystemdUnits

/// What the running daemon says of its sources and its problems; without one, what the files say.
struct DaemonReport {
    /// The sources; empty without a daemon.
    private(set) var sources: [JSON.Object] = []
    /// The process of the daemon with its descriptors; empty if they are not known.
    private(set) var process: JSON.Object = [:]
    /// Everything that is wrong, the worst first.
    private(set) var problems: [ProblemLine] = []
    /// The last drill of each service that had one, by the service's name.
    private(set) var drills: [String: JSON.Object] = [:]
    /// Why the daemon does not answer; nil if it does.
    private(set) var absence: String?
    /// Whether nobody listens at the control socket.
    private(set) var isGone = false

    /// Asks the daemon about these services, or about all. After `killswitchd --once` a missing daemon is no problem:
    /// there are files of services, and no other trace.
    init(of published: PublishedFiles, about services: [ServiceName]) {
        // Soon enough to show the files of a daemon that is frozen.
        let daemon = published.daemon(timeout: .seconds(2))
        do {
            let reply = try daemon.call("Sources")
            process = reply.object("process")
            if process["descriptors"] == .null { process = [:] }
            sources = reply.objects("sources")
            let about: JSON.Object = ["services": .strings(services.map(\.text))]
            problems = try daemon.call("Problems", about).objects("problems").map(ProblemLine.init)
            for drill in try daemon.call("Drills", about).objects("drills") {
                drills[drill.text("service")] = drill
            }
        } catch {
            // It answers, and has no service of this name.
            if !(error is MethodError) { recordAbsence(error, published) }
            // An unreadable file is reported where the service is shown.
            do { try readFiles(published, services) } catch {}
        }
    }

    private mutating func recordAbsence(_ error: any Error, _ published: PublishedFiles) {
        absence = CommandFailure(error).message
        isGone = (error as? SocketError)?.isNobodyThere == true
        guard published.needsDaemon(error) else { return }
        let problem = published.absence(error)
        problems = [problem]
        absence = "\(problem.line(at: published.now)); see 'systemctl status killswitchd'"
    }

    private mutating func readFiles(_ published: PublishedFiles, _ services: [ServiceName]) throws {
        if let refusal = try RuntimeDirectory.refusal(in: published.directory) {
            let text = "configuration refused; the last accepted one stays in force: \(refusal)"
            problems.append(ProblemLine(.host, .configurationRefused, text))
        }
        let known = try published.servicesIfAny()
        for service in services.isEmpty ? known : services {
            problems += try published.problems(of: service)
        }
        // Without any service no daemon has run since the boot.
        guard !known.isEmpty, published.directory == Directories.system else { return }
        let attached = Set(try AttachmentFiles.all().map(\.service)).subtracting(known)
        for service in attached.sorted() where services.isEmpty || services.contains(service) {
            problems += OrphanedService(service).map { [$0.problem] } ?? []
        }
    }
}

/// A problem as the daemon tells it, or as the files show it.
struct ProblemLine {
    /// The object: a `Problem` of the interface `io.killswitchd`.
    let object: JSON.Object

    /// Its kind; nil for one that a newer daemon has.
    var kind: Finding.Kind? { Finding.Kind(rawValue: object.text("kind")) }
    /// Whether monitoring is told.
    var isAlarm: Bool { object["alarm"]?.bool ?? true }
    var advice: String { object.text("advice") }
    var isOfUnit: Bool { object["unit"]?.string != nil }
    var isOfHost: Bool {
        object.strings("services").isEmpty && object["source"]?.string == nil
            && object["unit"]?.string == nil
    }

    /// The sentence, and how long the problem has lasted.
    func line(at now: Instant) -> String {
        let since = Instant(argument: object.text("since")).map { max(.zero, now - $0) }
        return object.text("text") + (since.map { " (for \($0.rough))" } ?? "")
    }
}

extension ProblemLine {
    /// A problem that this program has found itself. Monitoring is told of it.
    init(_ finding: Finding) { object = finding.json(at: Self.anyTime) }

    init(_ subject: Finding.Subject, _ kind: Finding.Kind, _ text: String) {
        self.init(Finding(subject, kind, text))
    }

    /// What this program finds has no beginning.
    private static let anyTime = Now(
        wall: Instant(microseconds: 0), boot: Boottime(microseconds: 0))
}

extension PublishedFiles {
    /// That no daemon answers. It is dead if nobody listens at its socket, unless that was removed from a live one.
    func absence(_ error: any Error) -> ProblemLine {
        let (socket, sign) = (error as? SocketError, signOfLife)
        let isSilent = sign.map { now - $0 > .seconds(60) } ?? true
        let isDead = socket?.isNobodyThere == true && (isSilent || socket?.isRefused == true)
        let fact =
            isUntouched(error)
            ? Self.noDaemon
            : isDead ? "killswitchd does not run" : "killswitchd does not answer"
        // Nobody knows when it ended: it may have gone on for a while after its last sign of life.
        let age = sign.map { " (last sign of life \(max(.zero, now - $0).rough) ago)" } ?? ""
        return ProblemLine(.host, .noDaemon, "\(fact)\(age): \(error)")
    }

    /// Why no daemon answers, in a line; nil if a daemon answers, or was too slow.
    var absence: String? {
        do {
            _ = try daemon(timeout: .seconds(2)).call("Sources")
            return nil
        } catch {
            guard (error as? SocketError)?.isNobodyThere == true else { return nil }
            return "\(absence(error).line(at: now)); see 'systemctl status killswitchd'"
        }
    }

    /// Whether a daemon that does not answer is missed: it has run, or nothing else has decided.
    fileprivate func needsDaemon(_ error: any Error) -> Bool {
        let isRefused = (error as? SocketError)?.isRefused == true
        return signOfLife != nil || isRefused || isUntouched(error)
    }

    /// Whether no daemon has left a trace since the boot: no socket, no sign of life, no file of a service.
    private func isUntouched(_ error: any Error) -> Bool {
        guard let socket = error as? SocketError, socket.isNobodyThere, !socket.isRefused,
            signOfLife == nil
        else { return false }
        return readable { try servicesIfAny().isEmpty } ?? false
    }

    static let noDaemon = "no daemon has run since this boot"

    /// What the files say: why its verdict does not rest on good flags, and what is wrong with its gate and units.
    fileprivate func problems(of service: ServiceName) throws -> [ProblemLine] {
        var problems: [ProblemLine] = []
        if let state = try state(of: service),
            let kind = Reason.Slug(rawValue: state.reason)?.finding
        {
            let text = state.object.text("reason_text")
            problems.append(ProblemLine(.service(service), kind, text))
        }
        if let text = gate(of: service)?.problem {
            problems.append(ProblemLine(.service(service), .gate, text))
        }
        for unit in try units(of: service) {
            guard let text = unit["problem"]?.string, let name = UnitName(unit.text("name")) else {
                continue
            }
            let kind: Finding.Kind = unit["wanted"]?.bool == true ? .unitFailed : .unitLate
            problems.append(ProblemLine(.unit(name, of: [service]), kind, text))
        }
        return problems
    }
}

/// A service that is not configured, to which units are attached: nothing moves its gate, open or closed.
struct OrphanedService {
    let name: ServiceName
    /// The units, by the drop-ins.
    let units: [UnitName]

    /// A service that has no files of a daemon. Nil if no unit is attached to it.
    init?(_ name: ServiceName) {
        let attached = readable { try AttachmentFiles.all() } ?? []
        units = Set(attached.filter { $0.service == name }.map(\.unit)).sorted()
        self.name = name
        if units.isEmpty { return nil }
    }

    var problem: ProblemLine {
        ProblemLine(.service(name), .unitsOrphaned, Finding.orphans(Set(units)))
    }

    /// What `explain` says of it.
    var explanation: String {
        var lines = LabelledLines()
        lines.add("verdict", "none: '\(name)' is not configured")
        lines.add("problem", problem.object.text("text"))
        lines.add("  to do", problem.advice)
        for (index, unit) in units.enumerated() { lines.add(index == 0 ? "units" : "", unit.text) }
        return lines.text
    }

    var json: JSON.Value {
        .object([
            "service": .string(name.text), "verdict": .null,
            "units": .objects(units.map { ["name": .string($0.text)] }),
            "problems": .objects([problem.object]),
        ])
    }
}
