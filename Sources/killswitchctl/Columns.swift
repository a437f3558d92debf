/// A table: columns as wide as their widest entry, the last as it comes.
struct Columns {
    let rows: [[String]]

    var text: String { lines.joined(separator: "\n") }

    var lines: [String] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<max(0, count - 1)).map { column in
            rows.map { $0[column].count }.max() ?? 0
        }
        return rows.map { row in
            zip(row, widths).map { $0.padded(to: $1) }.joined(separator: "  ")
                + "  " + (row.last ?? "")
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
