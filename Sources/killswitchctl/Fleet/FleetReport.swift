import CivilTime
import Decision
import Fleet
import JSON

/// What `fleet` prints of a roll call.
struct FleetReport {
    private let rollCall: RollCall
    private let service: ServiceName
    private let condition: WaitCondition?
    private let version: String?
    private let quorum: Quorum
    private let place: String
    private let time: Instant

    init(
        _ rollCall: RollCall, of service: ServiceName, _ condition: WaitCondition?,
        _ version: String?, _ quorum: Quorum, from place: String, at time: Instant
    ) {
        (self.rollCall, self.service, self.condition) = (rollCall, service, condition)
        (self.version, self.quorum, self.place, self.time) = (version, quorum, place, time)
    }

    var isEnough: Bool { quorum.isReached(rollCall) }

    /// `297 of 300 hosts have obeyed: 2 failed, 1 silent`.
    var sum: String {
        let total = rollCall.total
        if let problem = rollCall.problem {
            return "it is not known which hosts have obeyed: \(problem)"
        }
        let counts = rollCall.counts.map { "\($0.count) \($0.word)" }.joined(separator: ", ")
        return "\(rollCall.obeyed) of \(total) \(total == 1 ? "host has" : "hosts have") obeyed"
            + (counts.isEmpty ? "" : ": \(counts)")
    }

    /// Prints a line for each host that has not obeyed, and the sum. If nothing could be read, the sum alone.
    func printTable() {
        let rows = rollCall.problem == nil ? rollCall.rows.filter { $0.obedience != .obeyed } : []
        if !rows.isEmpty {
            let cells = rows.map {
                [$0.host.name.printable, $0.obedience.word, ($0.obedience.why ?? "").printable]
            }
            let table = Columns(rows: [["HOST", "ANSWER", "WHY"]] + cells)
            let lines = table.lines(within: Terminal.width() ?? .max, cutting: [2, 0])
            for (line, row) in zip(lines, [nil] + rows) {
                printLine(line, in: row?.obedience.color)
            }
        }
        printLine(sum)
    }

    /// The object for programs, with all hosts.
    var json: JSON.Value {
        .object([
            "service": .string(service.text),
            "for": .optional(condition?.defaultValueDescription),
            "version": .optional(version), "at_least": .string(quorum.description),
            "read_from": .string(place), "read_at": .string(Zone.utc.rfc3339(time)),
            "problem": .optional(rollCall.problem), "enough": .bool(isEnough),
            "total": .number(Number(Int64(rollCall.total))),
            "obeyed": .number(Number(Int64(rollCall.obeyed))),
            "hosts": .objects(rollCall.rows.map(object)),
        ])
    }

    private func object(_ row: RollCall.Row) -> JSON.Object {
        let account = row.account
        return [
            "host": .string(row.host.name), "id": .string(row.host.id),
            "answer": .string(row.obedience.word), "why": .optional(row.obedience.why),
            "state": .optional(account?.state.rawValue),
            "gate": .optional(account?.gate?.rawValue),
            "version": .optional(account?.version),
            "at": .optional(account?.at.map(Zone.utc.rfc3339)),
        ]
    }
}

extension Obedience {
    fileprivate var color: LineColor? {
        guard Terminal.wantsColor else { return nil }
        return switch self {
        case .obeyed: .green
        case .failed: .red
        case .late, .unlisted: .yellow
        case .silent, .unknown: .magenta
        }
    }
}
