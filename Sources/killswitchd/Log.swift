import Decision
import EventLoop
import Gates
import JSON
import POSIX
import Storage
import Systemd

/// The log: the journal if stderr is connected to it, else lines on stderr. It never waits for the journal.
final class Log {
    private let journal: JournalSocket?
    /// How many lines stderr has refused since the last line that it accepted.
    private var dropped = 0

    /// systemd sets `JOURNAL_STREAM` if it connects stderr to the journal. A shell in between may have
    /// redirected stderr since, so that is checked.
    init() {
        guard StandardError.isJournal else {
            journal = nil
            return
        }
        do {
            journal = try JournalSocket(identifier: "killswitchd")
        } catch {
            StandardError.write(line: "killswitchd: warning: \(error); logging to stderr")
            journal = nil
        }
    }

    /// Writes a text of one line or several. What it holds from outside cannot move the cursor of a terminal.
    func write(_ level: LogMessage.Level, _ text: String, id: LogMessage.Kind? = nil) {
        write(JournalEntry(level.priority, text.printableLines, messageID: id?.row.messageID))
    }

    /// Writes a notice of a machine, which is one line. A refused configuration has a line for each mistake.
    func write(_ notice: LogMessage) {
        var entry = notice.entry
        if case .came(let finding) = notice, finding.kind == .configurationRefused {
            entry.message = entry.message.printableLines
            return write(entry)
        }
        write(line: entry)
    }

    func write(_ notice: GateLogMessage) { write(line: notice.entry) }

    /// Before the process ends: waits up to a second for the journal to take what it did not take at once.
    func finish() { journal?.finish() }

    /// From now on this loop writes what the journal did not take at once.
    func retry(on loop: EventLoop) throws(SystemError) { try journal?.retry(on: loop) }

    /// Writes an entry whose message may hold text from outside, which cannot add a line.
    private func write(line entry: JournalEntry) {
        var entry = entry
        entry.message = entry.message.printable
        write(entry)
    }

    private func write(_ entry: JournalEntry) {
        if let journal { return journal.write(entry) }
        let missed = dropped == 0 ? "" : "(\(dropped) lines were dropped before this one) "
        let prefix = "killswitchd: \(Self.prefix(entry.priority))"
        let lines = entry.message.split(separator: "\n", omittingEmptySubsequences: false)
        let line = prefix + missed + lines.joined(separator: "\n\(prefix)")
        dropped = StandardError.write(line: line) ? 0 : dropped + 1
    }

    private static func prefix(_ priority: Priority) -> String {
        switch priority {
        case .error: "error: "
        case .warning: "warning: "
        case .notice, .info, .debug: ""
        }
    }
}
