import Decision
import Files

/// The log: a line on stderr for each thing worth saying.
enum Log {
    static func write(_ level: Notice.Level, _ sentence: String) {
        StandardError.write(line: "killswitchd: \(prefix(level))\(sentence)")
    }

    static func write(_ notice: Notice) {
        write(notice.level, notice.sentence)
    }

    private static func prefix(_ level: Notice.Level) -> String {
        switch level {
        case .error: "error: "
        case .warning: "warning: "
        case .notice, .info: ""
        }
    }
}
