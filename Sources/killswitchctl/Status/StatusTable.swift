import CivilTime
import Decision
import JSON
import Records

/// The table of `status`: columns as wide as their widest entry. Where that is too wide, the names of
/// services give way, then the reasons, then what is told of units.
struct StatusTable {
    let rows: [StatusRow]
    let isColored: Bool
    /// The columns of the terminal; nil where the table may be as wide as it is.
    let width: Int?

    var text: String {
        let cells = [Self.header] + rows.map(cells)
        var widths = Self.header.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        if let width {
            for column in [0, 7, 6] {
                let excess = widths.reduce(Self.gap.count * (widths.count - 1), +) - width
                widths[column] = max(Self.header[column].count, widths[column] - max(0, excess))
            }
        }
        return cells.enumerated().map { index, row in
            var line = zip(row, widths).map { $0.fitted(to: $1) }.joined(separator: Self.gap)
            while line.last == " " { line.removeLast() }
            return index == 0 ? line : colored(line, rows[index - 1])
        }.joined(separator: "\n")
    }

    private static let header = [
        "SERVICE", "STATE", "GATE", "DAYS", "AGE", "NEXT", "UNITS", "REASON",
    ]
    private static let gap = "  "

    private func cells(_ row: StatusRow) -> [String] {
        let next =
            switch row.nextPoll {
            case .unknown: "-"
            case .now: "now"
            case .after(let wait): Self.short(wait)
            }
        return [
            row.service.text, row.state.state.rawValue, row.state.gate?.rawValue ?? "-",
            row.state.daysLeft.map(String.init) ?? "-", row.age.map(Self.short) ?? "-", next,
            row.unitSummary, row.isCurrent ? row.state.reason : "(out of date)",
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
    static func short(_ time: Duration) -> String {
        switch time.wholeSeconds {
        case ..<120: "\(time.wholeSeconds)s"
        case ..<7200: "\(time.wholeSeconds / 60)m"
        case ..<172_800: "\(time.wholeSeconds / 3600)h"
        default: "\(time.wholeSeconds / 86_400)d"
        }
    }
}

extension String {
    /// Padded to a width, or cut to it, with an ellipsis at the end.
    fileprivate func fitted(to width: Int) -> String {
        if count > width { return prefix(max(0, width - 1)) + "…" }
        return self + String(repeating: " ", count: width - count)
    }
}
