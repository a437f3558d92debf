import CivilTime
import Decision
import JSON
import Records

/// The table of `status`: columns as wide as their widest entry.
struct StatusTable {
    let rows: [StatusRow]
    let isColored: Bool

    var text: String {
        let header = ["SERVICE", "STATE", "GATE", "DAYS", "AGE", "UNITS", "REASON"]
        let lines = Columns(rows: [header] + rows.map(cells)).lines
        return lines.enumerated().map { index, line in
            index == 0 ? line : colored(line, rows[index - 1])
        }.joined(separator: "\n")
    }

    private func cells(_ row: StatusRow) -> [String] {
        [
            row.service.text, row.state.state.rawValue, row.state.gate?.rawValue ?? "-",
            row.state.daysLeft.map(String.init) ?? "-", row.age.map(Self.short) ?? "-",
            row.unitSummary,
            row.state.reason + (row.isCurrent ? "" : " (out of date)"),
        ]
    }

    private func colored(_ line: String, _ row: StatusRow) -> String {
        guard isColored else { return line }
        let color =
            switch (row.isCurrent, row.state.state) {
            case (false, _), (_, .undecided): "35"
            case (true, .running): "32"
            case (true, .countdown), (true, .updateRequired): "33"
            case (true, .maintenance), (true, .ended): "31"
            }
        return "\u{1B}[\(color)m\(line)\u{1B}[0m"
    }

    /// A duration in its largest unit: 45s, 12m, 3h, 9d.
    private static func short(_ age: Duration) -> String {
        switch age.wholeSeconds {
        case ..<120: "\(age.wholeSeconds)s"
        case ..<7200: "\(age.wholeSeconds / 60)m"
        case ..<172_800: "\(age.wholeSeconds / 3600)h"
        default: "\(age.wholeSeconds / 86_400)d"
        }
    }
}
