import CivilTime
import Configuration
import Decision
import Files
import Gates
import JSON
import Storage
import SystemdUnits

/// What `host.json` says of the host, and whether a daemon runs. Without that file, what the files of services say.
struct PublishedHost {
    /// The sources, each with its `services`; empty if they are not known.
    private(set) var sources: [JSON.Object] = []
    /// Everything that is wrong, the worst first.
    private(set) var problems: [ProblemLine] = []
    /// The last drill of each service that had one or asks for some.
    private(set) var drills: [ServiceName: JSON.Object] = [:]
    /// Why the configuration on disk is not in force; nil if it is.
    private(set) var refusal: String?
    /// That no daemon runs, in a line; nil if one does.
    let absence: String?

    /// Reads what concerns these services, or all.
    init(of published: PublishedFiles, about chosen: [ServiceName] = []) {
        absence = published.absence.map { "\($0); see \(DeadDaemon.advice)" }
        do {
            if let object = try published.host() {
                read(object, chosen)
            } else if absence == nil {
                throw CommandFailure("'\(FileName.host)' is missing")
            } else {
                readFiles(of: published, chosen)
            }
        } catch {
            readFiles(of: published, chosen)
            let text = "the state of the host is not known: \(CommandFailure(error).message)"
            problems.insert(ProblemLine(.host, .runtimeDirectory, text), at: 0)
        }
        // After `killswitchd --once` there are files of services, and no other trace of a daemon.
        guard let absence = published.absence,
            published.life?.last != nil
                || (readable { try published.servicesIfAny() } ?? []).isEmpty
        else { return }
        problems.insert(ProblemLine(.host, .noDaemon, absence), at: 0)
    }

    private mutating func read(_ object: JSON.Object, _ chosen: [ServiceName]) {
        sources = object.objects("sources").filter { $0.concerns(chosen) }
        let names = Set(sources.map { $0.text("source") })
        problems = object.objects("findings").map(ProblemLine.init).filter { problem in
            if let source = problem.object["source"]?.string { return names.contains(source) }
            return problem.isOfHost || problem.object.concerns(chosen)
        }
        for service in object.objects("services") {
            guard let name = ServiceName(service.text("service")) else { continue }
            drills[name] = service["drill"]?.object
        }
        refusal = object.object("configuration")["refused"]?.string
    }

    /// What the files of services say: why a verdict does not rest on good flags, what is wrong with gates and units.
    private mutating func readFiles(of published: PublishedFiles, _ chosen: [ServiceName]) {
        // An unreadable file is reported where the service is shown.
        refusal = readable { try RuntimeDirectory.refusal(in: published.directory) } ?? nil
        if let refusal {
            let text = "configuration refused; the last accepted one stays in force: \(refusal)"
            problems.append(ProblemLine(.host, .configurationRefused, text))
        }
        let known = readable { try published.servicesIfAny() } ?? []
        for service in chosen.isEmpty ? known : chosen {
            problems += readable { try published.problems(of: service) } ?? []
        }
        // Without any service no daemon has run since the boot.
        guard !known.isEmpty, published.directory == Directories.system else { return }
        let attached = Set((readable { try AttachmentFiles.all() } ?? []).map(\.service))
        for service in attached.subtracting(known).sorted()
        where chosen.isEmpty || chosen.contains(service) {
            problems += OrphanedService(service).map { [$0.problem] } ?? []
        }
    }
}

extension JSON.Object {
    /// Whether its `services` are among the chosen ones; true if none are chosen.
    fileprivate func concerns(_ chosen: [ServiceName]) -> Bool {
        chosen.isEmpty || !Set(chosen.map(\.text)).isDisjoint(with: strings("services"))
    }
}

/// A problem as `host.json` tells it, or as this program has found it.
struct ProblemLine {
    /// The object, as a finding of `host.json`.
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
    /// A problem of a unit, whose kind its file does not tell.
    init(of unit: UnitName, _ service: ServiceName, _ text: String) {
        var object = ProblemLine(.unit(unit, of: [service]), .unitFailed, text).object
        object["kind"] = .null
        self.object = object
    }

    /// A problem that this program has found itself. Monitoring is told of it.
    init(_ subject: Finding.Subject, _ kind: Finding.Kind, _ text: String) {
        let now = Now(wall: Instant(microseconds: 0), boot: Boottime(microseconds: 0))
        object = Finding(subject, kind, text).json(at: now)
    }
}

extension PublishedFiles {
    /// That no daemon runs, as a sentence; nil if one does, by its last sign of life.
    var absence: String? {
        guard let life, !life.isRunning(at: now) else { return nil }
        if let last = life.last {
            let age = max(.zero, now - last).rough
            return "killswitchd does not run (last sign of life \(age) ago)"
        }
        let isUntouched = readable { try servicesIfAny().isEmpty } ?? false
        return isUntouched ? Self.noDaemon : "killswitchd does not run"
    }

    /// Throws if no daemon runs.
    func requireDaemon() throws {
        if let absence {
            throw CommandFailure(.unreachable, "\(absence); see \(DeadDaemon.advice)")
        }
    }

    /// The services that are configured, as far as files tell.
    func configured() throws -> [ServiceName] {
        let known = readable { try host() } ?? nil
        return try known?.objects("services").compactMap { ServiceName($0.text("service")) }
            ?? servicesIfAny()
    }

    static let noDaemon = "no daemon has run since this boot"

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
            problems.append(ProblemLine(of: name, service, text))
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
