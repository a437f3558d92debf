import CivilTime
import Glibc

/// A word to the service manager, sd_notify(3).
package enum Message: Hashable, Sendable {
    case ready
    /// The configuration is read again, since this moment of CLOCK_MONOTONIC in microseconds.
    case reloading(since: Int64)
    case stopping
    /// The still living work: without it in time, the service is killed and started again.
    case watchdog
    /// How long from now the next word may take.
    case extendTimeout(Duration)
    /// One line that `systemctl status` shows.
    case status(String)

    /// `reloading`, since now.
    package static var reloadingNow: Message {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return .reloading(since: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }

    /// The lines of the datagram.
    package var text: String {
        switch self {
        case .ready: "READY=1"
        case .reloading(let since): "RELOADING=1\nMONOTONIC_USEC=\(since)"
        case .stopping: "STOPPING=1"
        case .watchdog: "WATCHDOG=1"
        case .extendTimeout(let duration): "EXTEND_TIMEOUT_USEC=\(duration.microseconds)"
        case .status(let line): "STATUS=\(Self.oneLine(line))"
        }
    }

    /// The most bytes of a status. The service manager takes no datagram over 4096 bytes, and one
    /// carries other words too.
    package static let statusLimit = 3000

    /// A text as one line within the limit, cut between characters.
    private static func oneLine(_ text: String) -> String {
        var line = ""
        for character in text {
            let shown = character.isNewline ? " " : character
            guard line.utf8.count + shown.utf8.count <= statusLimit - 3 else { return line + "…" }
            line.append(shown)
        }
        return line
    }
}
