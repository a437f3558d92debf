import Glibc

/// Conditions that no input can break. If a condition is broken all the same, the program names it
/// and ends: the service manager starts the program again.
///
/// Swift's own `precondition` is silent in an optimised build: it leaves the sentence out.
package enum Invariant {
    /// Ends the program unless `condition` is true. `sentence` states the condition.
    package static func hold(
        _ condition: Bool, _ sentence: @autoclosure () -> String, file: StaticString = #fileID,
        line: UInt = #line
    ) {
        if !condition { broken(sentence(), file: file, line: line) }
    }

    /// Writes one line to standard error, with the place in the sources, and ends by `SIGABRT`, as
    /// assert(3) does.
    ///
    /// Under systemd the line is an entry of the journal, of priority `crit`.
    package static func broken(
        _ sentence: String, file: StaticString = #fileID, line: UInt = #line
    ) -> Never {
        let path = CommandLine.arguments.first ?? ""
        let program = path.split(separator: "/").last.map(String.init) ?? "program"
        let text = "\(program): invariant broken: \(sentence) (\(file):\(line))"
        StandardError.write(line: StandardError.isJournal ? "<2>\(text)" : text)
        abort()
    }
}
