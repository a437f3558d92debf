import Decision
import JSON

/// The table of `units`.
struct UnitTable {
    let rows: [AttachedUnits.Row]

    var text: String {
        let header = ["SERVICE", "UNIT", "WANTED", "ACTIVE", "SINCE", "TOOK", "PROBLEM"]
        return Columns(rows: [header] + rows.map(cells)).text
    }

    private func cells(_ row: AttachedUnits.Row) -> [String] {
        let wanted =
            switch row.state?["wanted"] {
            case .bool(true): "up"
            case .bool(false): "down"
            default: "-"
            }
        return [
            row.service.text, row.unit, wanted, row.state?["active"]?.string ?? "-",
            row.state?["since"]?.string ?? "-",
            row.state?["took_ms"]?.number.map { "\($0.literal) ms" } ?? "-",
            row.state?["problem"]?.string ?? (row.isOrphan ? "its service is not configured" : "-"),
        ]
    }
}
