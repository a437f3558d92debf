import Glibc

/// The terminals at stdout and stderr, if they are terminals.
enum Terminal {
    /// The columns of the terminal at stdout; nil if it is none, or does not tell.
    static var width: Int? {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
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
        return lines.map { $0.label.padded(to: width + 2) + $0.text }.joined(separator: "\n")
    }
}

/// A table whose columns are as wide as their widest cell.
struct Columns {
    /// The rows, all of the same length.
    let rows: [[String]]

    /// All lines, without a line feed at the end.
    var text: String { lines.joined(separator: "\n") }

    /// A line for each row.
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
    /// The text with spaces up to a width in characters.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
