import ArgumentParser
import Glibc
import JSON
import POSIX

/// The terminals at stdout and stderr, if they are terminals.
enum Terminal {
    /// The columns of a terminal; nil if it is none, or does not tell.
    static func width(of descriptor: Int32 = STDOUT_FILENO) -> Int? {
        var size = winsize()
        let isVerbose = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isVerbose ? Int(size.ws_col) : nil
    }

    /// Whether stdout is a terminal.
    static var isShown: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether stderr is a terminal.
    static var isErrorShown: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether a person can be asked: the questions go to stderr.
    static var canAsk: Bool { isatty(STDIN_FILENO) == 1 && isErrorShown }

    /// Asks a question until `check` takes the answer. Throws where nobody answers.
    static func ask(_ question: String, _ check: (String) throws -> Void) throws -> String {
        while true {
            prompt(question)
            guard let answer = readLine() else {
                throw CommandFailure(.usage, "no answer; nothing was ordered")
            }
            do {
                try check(answer)
                return answer
            } catch let problem as ValidationError { complain("\(problem)") }
        }
    }

    /// Whether a line on stderr may be written over and over: a terminal that can move its cursor, and that no other
    /// job has now.
    static var showsProgress: Bool {
        tcgetpgrp(STDERR_FILENO) == getpgrp()
            && environmentVariable("TERM").map { $0 != "dumb" && !$0.isEmpty } ?? false
    }

    /// Shows how far a wait is, in place of the line before; nil removes it. Nothing without a terminal.
    static func showProgress(_ words: String?) {
        guard showsProgress else { return }
        // A line that wraps could not be removed.
        let room = (width(of: STDERR_FILENO) ?? 80) - 1
        let shown = words.map { $0.count > room ? $0.prefix(max(0, room - 1)) + "…" : $0 } ?? ""
        prompt(shown, after: "\r\u{1B}[K")
    }

    /// Writes to stderr without a line feed, after characters that control the terminal.
    static func prompt(_ words: String, after control: String = "") {
        let bytes = Array((control + words.printable).utf8)
        _ = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count)
        }
    }

    /// Whether to print colours: on a terminal that has some, unless NO_COLOR is set (no-color.org).
    static var wantsColor: Bool {
        isShown && environmentVariable("TERM") != "dumb"
            && environmentVariable("NO_COLOR").map(\.isEmpty) ?? true
    }
}

/// A color of a line on a terminal, as the number of ECMA-48.
enum LineColor: Int {
    case red = 31
    case green = 32
    case yellow = 33
    case magenta = 35
}

/// Prints a line on stdout, in which text from outside cannot add a line, move the cursor or change a color.
func printLine(_ line: String = "", in color: LineColor? = nil) {
    let line = line.printable
    print(color.map { "\u{1B}[\($0.rawValue)m\(line)\u{1B}[0m" } ?? line)
}

/// Prints a text of several lines on stdout. The caller makes sure that text from outside adds no line.
func printLines(_ lines: String) { print(lines.printableLines) }

/// Prints a value on stdout as JSON, in which unprintable characters are escaped.
func printJSON(_ value: JSON.Value, _ style: JSON.Style = .pretty) {
    print(value.serialized(style))
}

/// Sends what was printed: a pipe would get large pieces otherwise. Throws if it cannot be written.
func flushOutput() throws(CommandFailure) {
    guard fflush(nil) != 0 else { return }
    throw CommandFailure(.ownFailure, "write the output: \(SystemError.text(of: errno))")
}

/// Prints a message on stderr, behind the name of the program.
func printError(_ message: String) { complain("killswitchctl: \(message)") }

/// Prints lines on stderr. Text from outside that they hold cannot move the cursor or change a color.
func complain(_ lines: String) { StandardError.write(line: lines.printableLines) }

/// Lines of a label and a text each. The texts begin in the same column, and text from outside adds no line.
struct LabelledLines {
    private var lines: [(label: String, text: String)] = []

    /// Adds a line; nil adds none.
    mutating func add(_ label: String, _ text: String?) {
        guard let text else { return }
        lines.append((label.printable, text.printable))
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

    /// A line for each row. If the table is wider than `limit`, it cuts cells of the columns in `cut`, the first first.
    func lines(within limit: Int = .max, cutting cut: [Int] = []) -> [String] {
        guard let header = rows.first else { return [] }
        var widths = header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        for column in cut {
            let width = widths.reduce(Self.gap.count * (widths.count - 1), +)
            widths[column] = max(header[column].count, widths[column] - max(0, width - limit))
        }
        let middles = header.indices.map { isCutInTheMiddle($0, to: widths[$0]) }
        return rows.map { row in
            var line = zip(zip(row, widths), middles)
                .map { $0.0.fitted(to: $0.1, inTheMiddle: $1) }.joined(separator: Self.gap)
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// Whether different cells of a column would look alike if they were cut at the end.
    private func isCutInTheMiddle(_ column: Int, to width: Int) -> Bool {
        let cells = Set(rows.map { $0[column] })
        return Set(cells.map { $0.fitted(to: width) }).count < cells.count
    }

    private static let gap = "  "
}

extension String {
    /// The text with spaces up to a width in characters, or cut to it, with an ellipsis for the rest.
    fileprivate func fitted(to width: Int, inTheMiddle isMiddle: Bool = false) -> String {
        if count > width {
            let room = max(0, width - 1)
            let end = isMiddle ? room - room / 3 : 0
            return prefix(room - end) + "…" + suffix(end)
        }
        return self + String(repeating: " ", count: width - count)
    }
}
