import CivilTime
import Configuration
import Decision
import JSON
import Storage

/// The table of `status`: columns as wide as their widest cell. If that is too wide for the terminal, it
/// cuts the names of services, then the reasons, then the summaries of units.
struct StatusTable {
    /// The services.
    let rows: [StatusRow]

    /// Prints all lines.
    func show() {
        let table = Columns(rows: [Self.header] + rows.map(cells))
        let lines = table.lines(within: Terminal.width ?? .max, cutting: [0, 7, 6])
        for (line, row) in zip(lines, [nil] + rows) { printLine(line, in: row.flatMap(color(of:))) }
    }

    private static let header = [
        "SERVICE", "STATE", "GATE", "DAYS", "AGE", "NEXT", "UNITS", "REASON",
    ]

    private func cells(_ row: StatusRow) -> [String] {
        let next =
            switch row.nextPoll {
            case .unknown: "-"
            case .now: "now"
            case .after(let wait): wait.rough
            }
        return [
            row.service.text, row.state.state.rawValue, row.gate.word,
            row.daysLeft, row.age.map(\.rough) ?? "-", next,
            row.unitSummary, row.isCurrent ? row.state.reason : "(out of date)",
        ]
    }

    private func color(of row: StatusRow) -> LineColor? {
        guard Terminal.wantsColor else { return nil }
        if row.gate.isHeldUp || row.hasUnitProblem { return .red }
        return switch (row.isCurrent, row.state.state) {
        case (false, _), (_, .undecided): .magenta
        case (true, .running): row.units.allSatisfy(\.isAsWanted) ? .green : .yellow
        case (true, .countdown), (true, .updateRequired): .yellow
        case (true, .maintenance), (true, .ended): .red
        }
    }
}

/// A service as `status` shows it.
struct StatusRow {
    /// The time of the next fetch from its sources.
    enum NextPoll: Equatable {
        /// The daemon does not answer.
        case unknown
        /// A fetch is in flight.
        case now
        case after(Duration)
    }

    /// The service.
    let service: ServiceName
    /// Its published state.
    let state: PublishedState
    /// Whether the state is not out of date.
    let isCurrent: Bool
    /// How long ago the deciding source confirmed its flags; nil if that is unknown.
    let age: Duration?
    /// When the first of its sources is asked again.
    let nextPoll: NextPoll
    /// What its gate is in fact.
    let gate: ShownGate
    /// The time until its announced end; nil without one.
    private let rest: Duration?
    /// The objects of units.json.
    let units: [JSON.Object]

    /// Reads the files of a service; `sources` are the sources in the daemon's reply, or empty.
    init(_ service: ServiceName, in published: PublishedFiles, _ sources: [SourceReply]) throws {
        let state = try published.known(service)
        let own = sources.filter { $0.services.contains(service.text) }
        let decisive = own.first { $0.name == state.object["source"]?.string }
        self.service = service
        self.state = state
        isCurrent = published.isCurrent(state, at: published.now)
        rest = Instant(argument: state.object.text("ends_at")).map { $0 - published.now }
        age = decisive?.age ?? Self.age(of: state, in: published)
        nextPoll =
            if own.contains(where: { $0.nextPoll == nil }) { .now } else {
                own.compactMap(\.nextPoll).min().map(NextPoll.after) ?? .unknown
            }
        gate = ShownGate(state.gate, published.gate(of: service), at: published.now)
        units = try published.units(of: service)
    }

    /// By the mark of the source, whether the daemon answers or not.
    private static func age(of state: PublishedState, in published: PublishedFiles) -> Duration? {
        do {
            let confirmed = try SourceName(state.object.text("source"))
                .flatMap(published.confirmation)
            return confirmed.map { max(.zero, published.now - $0) }
        } catch {
            return nil
        }
    }

    /// The override in a line: its author, end and reason; nil without one.
    var override: String? {
        guard let text = state.object["override"]?.object?.text else { return nil }
        let words = "forced by \(text("author")) until \(text("until")): \(text("reason"))"
        return "\(service): \(words)"
    }

    /// The calendar days until the end; on the last day the hours and minutes, `7h 12m`.
    var daysLeft: String {
        if state.state == .countdown, let rest, rest > .zero, rest < .seconds(86_400) {
            let minutes = rest.wholeSeconds / 60
            return minutes < 60 ? "\(minutes)m" : "\(minutes / 60)h \(minutes % 60)m"
        }
        return state.daysLeft.map(String.init) ?? "-"
    }

    /// A line for the units that other services keep down.
    var keptUnits: [String] { gate.keptUnits.map { "\(service): \($0)" } }

    /// How many units are as the gate wants them, and how long the slowest took: `2/3 850ms`.
    var unitSummary: String {
        guard !units.isEmpty else { return "-" }
        let good = units.filter { $0["problem"] == .null && $0.isAsWanted }.count
        let slowest = units.compactMap { $0["took_ms"]?.number?.int64 }.max()
        return "\(good)/\(units.count)" + (slowest.map { " \($0)ms" } ?? "")
    }

    /// Whether the move of the gate has not gone well for a unit, such as one that has failed.
    var hasUnitProblem: Bool { !(gate.published?.unitProblems.isEmpty ?? true) }

    /// The object for programs: `state.json`, and the further facts that the table shows.
    func json(with daemon: DaemonReport) -> JSON.Value {
        var object = state.object
        object["age"] = .optional(age?.wholeSeconds)
        object["next_poll"] =
            switch nextPoll {
            case .unknown: .null
            case .now: 0
            case .after(let wait): .number(Number(wait.wholeSeconds))
            }
        object["current"] = .bool(isCurrent)
        object["gate_actual"] = gate.json
        object["units"] = .array(units.map { .object($0) })
        object["drill"] = daemon.drills[service.text].map { .object($0.object) } ?? .null
        return .object(object)
    }
}

extension JSON.Object {
    /// Whether a unit is as the gate wants it; true for every unit that the gate only permits.
    var isAsWanted: Bool { self["as_wanted"]?.bool ?? true }
}
