import CivilTime
import Configuration
import Decision
import Files
import JSON
import Storage

/// A service as `status` shows it.
struct StatusRow {
    let service: ServiceName
    let state: PublishedState
    let isCurrent: Bool
    let gate: ShownGate
    let units: [JSON.Object]
    /// How long ago the deciding source confirmed its flags; nil if that is unknown.
    private let age: Duration?
    /// The time until its announced end; nil without one.
    private let rest: Duration?

    /// Reads the files of a service.
    init(_ service: ServiceName, in published: PublishedFiles) throws {
        let state = try published.known(service)
        self.service = service
        self.state = state
        isCurrent = published.isCurrent(state, at: published.now)
        rest = Instant(argument: state.object.text("ends_at")).map { $0 - published.now }
        age = published.age(ofSource: state.object.text("source"))
        gate = published.gate(of: service, beside: state.gate)
        units = try published.units(of: service)
    }

    /// The override in a line: its author, end and reason; nil without one.
    var override: String? {
        guard let object = state.object["override"]?.object else { return nil }
        let text = object.text
        let words = "forced by \(text("author")) until \(object.end): \(text("reason"))"
        return "\(service): \(words)"
    }

    /// The line about its last drill. A drill that has failed is a problem, and has no such line.
    func line(of drill: JSON.Object?, at now: Instant) -> String? {
        guard let drill, drill["problem"]?.string == nil,
            let time = Instant(argument: drill.text("at"))
        else { return nil }
        return "\(service): its last drill succeeded \(max(.zero, now - time).rough) ago"
    }

    /// A line for the units that other services keep down.
    var keptUnits: [String] { gate.keptUnits.map { "\(service): \($0)" } }

    /// The object for programs: `state.json`, and the further facts that the table shows.
    func json(with host: PublishedHost) -> JSON.Value {
        var object = state.object
        object["age"] = .optional(age?.wholeSeconds)
        object["current"] = .bool(isCurrent)
        object["gate_actual"] = gate.json
        object["armed"] = .null
        object["units"] = .objects(units)
        object["drill"] =
            host.drills[service].map { drill in
                var drill = drill
                drill["service"] = .string(service.text)
                return .object(drill)
            } ?? .null
        return .object(object)
    }

    /// Prints the table. If it is too wide, it cuts names of services, then reasons, then summaries of units. It has a
    /// column for drills if a service asks for them.
    static func printTable(of rows: [StatusRow], with host: PublishedHost, at now: Instant) {
        let drills = rows.map {
            DrillNotice(host.drills[$0.service], of: $0.service, units: $0.units, at: now)
        }
        var cells = [header] + rows.map(\.cells)
        var cut = [0, 6, 5]
        if drills.contains(where: { $0 != nil }) {
            for (row, word) in (["DRILL"] + drills.map { $0?.cell ?? "-" }).enumerated() {
                cells[row].insert(word, at: 6)
            }
            cut = [0, 7, 5]
        }
        let lines = Columns(rows: cells).lines(within: Terminal.width() ?? .max, cutting: cut)
        for (line, row) in zip(lines, [nil] + rows) { printLine(line, in: row?.color) }
    }

    private static let header = [
        "SERVICE", "STATE", "GATE", "DAYS", "AGE", "UNITS", "REASON",
    ]

    private var cells: [String] {
        [
            service.text, state.state.rawValue, gate.word, daysLeft, age?.rough ?? "-",
            unitSummary, isCurrent ? state.reason : "(out of date)",
        ]
    }

    /// The calendar days until the end; on the last day the hours and minutes, `7h 12m`.
    private var daysLeft: String {
        if state.state == .countdown, let rest, rest > .zero, rest < .seconds(86_400) {
            let minutes = rest.wholeSeconds / 60
            return minutes < 60 ? "\(minutes)m" : "\(minutes / 60)h \(minutes % 60)m"
        }
        return state.object["days_left"]?.number?.int64.map(String.init) ?? "-"
    }

    /// How many units are as the gate wants them, and how long the slowest took: `2/3 850ms`.
    private var unitSummary: String {
        guard !units.isEmpty else { return "-" }
        let good = units.filter { $0["problem"] == .null && $0.isAsWanted }.count
        let slowest = units.compactMap { $0["took_ms"]?.number?.int64 }.max()
        return "\(good)/\(units.count)" + (slowest.map { " \($0)ms" } ?? "")
    }

    private var color: LineColor? {
        guard Terminal.wantsColor else { return nil }
        // A unit that has failed in the move of the gate is as bad as a gate that is stuck.
        if gate.isHeldUp || gate.published?.unitProblems.isEmpty == false { return .red }
        return switch (isCurrent, state.state) {
        case (false, _), (_, .undecided): .magenta
        case (true, .running): units.allSatisfy(\.isAsWanted) ? .green : .yellow
        case (true, .countdown), (true, .updateRequired): .yellow
        case (true, .maintenance), (true, .ended): .red
        }
    }
}

extension JSON.Object {
    /// Whether a unit is as the gate wants it; true for every unit that the gate only permits.
    var isAsWanted: Bool { self["as_wanted"]?.bool ?? true }
}
