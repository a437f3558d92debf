import Glibc

/// The terminals at stdout and stderr, if they are terminals.
enum Terminal {
    /// The columns of the terminal at stdout; nil if it is none, or does not tell.
    static var width: Int? {
        var size = winsize()
        let isTold = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isTold ? Int(size.ws_col) : nil
    }

    /// Whether stderr is a terminal.
    static var isErrorShown: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes a question to stderr, without a line feed.
    static func prompt(_ words: String) {
        let bytes = Array(words.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Whether to print colours: on a terminal, unless NO_COLOR is set (no-color.org).
    static var wantsColor: Bool {
        isatty(STDOUT_FILENO) == 1 && environmentVariable("NO_COLOR").map(\.isEmpty) ?? true
    }
}

/// Prints a line and flushes it: a pipe would get large pieces otherwise.
func printNow(_ line: String) {
    print(line)
    fflush(nil)
}

/// Lines of a label and a text each. The texts begin in the same column.
struct LabelledLines {
    private var lines: [(label: String, text: String)] = []

    /// Adds a line; nil adds none.
    mutating func add(_ label: String, _ text: String?) {
        guard let text else { return }
        lines.append((label, text))
    }

    /// All lines, without a line feed at the end.
    var text: String {
        let width = lines.map(\.label.count).max() ?? 0
        return lines.map { $0.label.fitted(to: width + 2) + $0.text }.joined(separator: "\n")
    }
}

/// A table whose columns are as wide as their widest cell.
struct Columns {
    /// The header and the rows, all of the same length.
    let rows: [[String]]

    /// A line for each row, without spaces at its end. If the table is wider than `limit`, it cuts cells of
    /// the columns in `cut` until it fits, the first of them first.
    func lines(within limit: Int = .max, cutting cut: [Int] = []) -> [String] {
        guard let header = rows.first else { return [] }
        var widths = header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        for column in cut {
            let width = widths.reduce(Self.gap.count * (widths.count - 1), +)
            widths[column] = max(header[column].count, widths[column] - max(0, width - limit))
        }
        return rows.map { row in
            var line = zip(row, widths).map { $0.fitted(to: $1) }.joined(separator: Self.gap)
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    private static let gap = "  "
}

extension String {
    /// The text with spaces up to a width in characters, or cut to it, with an ellipsis at the end.
    fileprivate func fitted(to width: Int) -> String {
        if count > width { return prefix(max(0, width - 1)) + "…" }
        return self + String(repeating: " ", count: width - count)
    }
}
