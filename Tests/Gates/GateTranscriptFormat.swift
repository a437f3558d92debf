import CivilTime
import Decision
import Gates
import Support

extension GateTranscript {
    static func line(_ event: GateEvent) -> String {
        switch event {
        case .started: "started"
        case .decided(let service, let stand, _):
            "\(service) decided: \(stand.gate.rawValue) \(stand.state.rawValue)"
                + (stand.variant.map { " \($0)" } ?? "")
        case .openingDelayed(let service): "\(service) opens once its files are written"
        case .withdrawn(let service): "\(service) withdrawn"
        case .noticePublished(let service): "\(service) told"
        case .targetsListed(let loaded):
            "listed " + list(loaded, \.active.rawValue)
        case .unitsListed(let units):
            "units listed " + list(units, \.active.rawValue)
        case .busLost(let problem): "lost: \(problem)"
        case .systemdReloaded: "reloaded"
        case .unitChanged(let unit, let seen):
            "\(unit) is \(seen.active.rawValue)" + (seen.hasJob ? " with a job" : "")
        case .unitRead(let unit, let properties):
            "\(unit) read: \(properties?.seen.active.rawValue ?? "nothing")"
        case .jobAnswered(let move, let problem, _): "\(line(move)): \(words(problem))"
        case .startFailed(let unit, let job, let isByAssertion):
            "job \(job) to start \(unit) failed by "
                + (isByAssertion ? "an assertion" : "a dependency")
        case .polkitAppeared: "polkit is on the bus"
        case .busAppeared: "the bus may be back"
        case .unitsListedByConfiguration(let units):
            "listed: "
                + units.sorted { $0.key < $1.key }
                .map { "\($0.key)=\($0.value.map(\.text))" }.joined(separator: " ")
        case .attachAnswered(let problem): "attach: \(words(problem))"
        case .attachEnded: "attach has ended"
        case .processesCounted(let unit, let processes):
            "\(unit) has \(processes.map { "\($0.count)" } ?? "unknown") processes"
        case .dropInsRead(let named, _):
            "drop-ins "
                + named.sorted { $0.key < $1.key }
                .map { "\($0.key.unit?.text ?? "?")=\($0.value.sorted().map(\.text))" }
                .joined(separator: " ")
        case .systemStateRead(let isStopping): "the system is \(isStopping ? "stopping" : "up")"
        case .writeFailed(let service, let problem): "\(service) unwritten: \(problem)"
        case .filesDeleted(let service): "\(service) deleted"
        case .woke: "woke"
        }
    }

    private static func words(_ problem: GateObstacle?) -> String {
        switch problem {
        case .refused(let words): words
        case let problem?: problem.sentence
        case nil: "queued"
        }
    }

    func line(_ effect: GateEffect, since now: Boottime) -> String? {
        switch effect {
        case .connectBus: "connect"
        case .list(let units): (["list"] + units.map(\.text)).joined(separator: " ")
        case .subscribe(let units):
            showsAll ? "subscribe " + units.sorted().map(\.text).joined(separator: " ") : nil
        case .unsubscribe(let units):
            showsAll ? "unsubscribe " + units.sorted().map(\.text).joined(separator: " ") : nil
        case .readUnit(let unit): showsAll ? "read \(unit)" : nil
        case .enqueue(let move): Self.line(move)
        case .readSystemState: "ask whether the system is stopping"
        case .attachListed: "attach the listed units"
        case .countProcesses(let unit): "count the processes of \(unit)"
        case .readAttachOutcome: "read what was attached"
        case .publishUnits(let service, let rows):
            showsAll ? "publish \(service) \(rows.map(Self.line).joined(separator: ", "))" : nil
        case .publishGate(let service, let report):
            showsGates ? "gate of \(service): \(Self.line(report, now))" : nil
        case .log(let notice): "log \(notice.level): \(notice.sentence)"
        case .sleep(let moment):
            showsAll
                ? "sleep" + (moment.map { " \(($0 - now).microseconds / 1000) ms" } ?? "") : nil
        }
    }

    private static func line(_ move: TargetJob) -> String {
        switch move {
        case .start(let target): "start \(target.unit?.text ?? "?")"
        case .stop(let target): "stop \(target.unit?.text ?? "?")"
        }
    }

    private static func line(_ report: GateStatus, _ now: Boottime) -> String {
        let units = report.units.total == 0 ? "" : " \(report.units.arrived)/\(report.units.total)"
        let problem = report.problem.map { " (\($0.sentence))" } ?? ""
        let next = report.nextTry.map { " next try in \(($0 - now).microseconds / 1000) ms" } ?? ""
        return "\(report.actual?.rawValue ?? "unmoved")\(units)\(problem)\(next)"
    }

    private static func line(_ row: UnitRow) -> String {
        let wanted = row.isWanted.map { $0 ? "up" : "down" } ?? "-"
        return "\(row.name) \(wanted) \(row.seen?.active.rawValue ?? "?")"
            + (row.problem.map { " (\($0))" } ?? "")
    }

    private static func list<Value>(
        _ values: [UnitName: Value], _ text: (Value) -> String
    ) -> String {
        values.sorted { $0.key < $1.key }.map { "\($0.key)=\(text($0.value))" }
            .joined(separator: " ")
    }
}
