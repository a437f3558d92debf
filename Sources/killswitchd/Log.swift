import Decision
import Faults
import Journal
import Records

/// The log: the journal where stderr leads there, else a line on stderr. Never both, and never a
/// wait for the journal.
final class Log {
    private let journal: JournalSocket?
    /// The lines that nobody read from stderr since the last one that was.
    private var dropped = 0

    /// systemd says in `JOURNAL_STREAM` what stderr leads to when it is the journal; it counts only
    /// while that is so still, for a shell in between may have turned it elsewhere.
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

    func write(_ level: Notice.Level, _ sentence: String, id: MessageID? = nil) {
        write(Entry(level.priority, sentence, messageID: id?.rawValue))
    }

    func write(_ notice: Notice) {
        write(notice.entry)
    }

    func write(_ notice: GateNotice) {
        write(notice.entry)
    }

    /// Says what the journal missed, if it takes entries again.
    func catchUp() {
        journal?.catchUp()
    }

    private func write(_ entry: Entry) {
        if let journal {
            journal.write(entry)
        } else {
            writeToStandardError(entry)
        }
    }

    private func writeToStandardError(_ entry: Entry) {
        let missed = dropped == 0 ? "" : "(\(dropped) lines were dropped before this one) "
        let line = "killswitchd: \(Self.prefix(entry.priority))\(missed)\(entry.message)"
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
