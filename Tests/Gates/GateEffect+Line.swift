import CivilTime
import Decision
import Gates

/// How a transcript writes an effect.
extension TranscribedGates {
    /// The line of an effect; nil if the head does not say to show it.
    func text(of effect: GateEffect, since now: Boottime) -> String? {
        switch effect {
        case .connectBus: "connect"
        case .list(let units): units.isEmpty ? "list" : "list \(Self.list(units))"
        case .compare(let units): shown(.requests, "compare " + Self.list(units))
        case .subscribe(let units):
            shown(.requests, "subscribe " + Self.list(units.sorted()))
        case .unsubscribe(let units):
            shown(.requests, "unsubscribe " + Self.list(units.sorted()))
        case .readUnit(let unit): shown(.requests, "read \(unit)")
        case .publishTargets(let service, let orders):
            shown(.targets, "targets of \(service): " + Self.text(of: orders, now))
        case .enqueue(let job): job.text
        case .readSystemState: "ask whether the system is stopping"
        case .attachListed: "attach the listed units"
        case .countProcesses(let unit): "count the processes of \(unit)"
        case .readAttachOutcome: "read what was attached"
        case .publishUnits(let service, let rows):
            shown(.rows, "publish \(service) \(rows.map(Self.text).joined(separator: ", "))")
        case .publishGate(let service, let report):
            shown(.gates, "gate of \(service): \(Self.text(of: report, now))")
        case .log(let notice): "log \(notice.level): \(notice.sentence)"
        case .sleep(let moment):
            shown(
                .wakes,
                "sleep" + (moment.map { " \(($0 - now).microseconds / 1000) ms" } ?? ""))
        }
    }

    private func shown(_ what: Show, _ line: String) -> String? {
        shows.contains(what) ? line : nil
    }

    /// `stop closed, start open, start open 1`: `*` is a number that is new at this moment.
    private static func text(of orders: TargetOrders, _ now: Boottime) -> String {
        let lines = orders.text.split(separator: "\n")
        return lines.isEmpty
            ? "none"
            : lines.map { $0.replacing(" \(now.microseconds)", with: " *") }.joined(separator: ", ")
    }

    static func text(of report: GateStatus, _ now: Boottime) -> String {
        let units = report.units.total == 0 ? "" : " \(report.units.arrived)/\(report.units.total)"
        let problem = report.problem.map { " (\($0.sentence))" } ?? ""
        let next = report.nextTry.map { " next try in \(($0 - now).microseconds / 1000) ms" } ?? ""
        return "\(report.actual?.rawValue ?? "unmoved")\(units)\(problem)\(next)"
    }

    private static func text(of row: UnitRow) -> String {
        let wanted = row.isWanted.map { $0 ? "up" : "down" } ?? "-"
        return "\(row.name) \(wanted) \(row.seen?.active.rawValue ?? "?")"
            + (row.isAsWanted == true ? " (as wanted)" : "")
            + (row.problem.map { " (\($0))" } ?? "")
    }

    private static func list(_ units: [UnitName]) -> String {
        units.map(\.text).joined(separator: " ")
    }
}
