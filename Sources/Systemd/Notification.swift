import CivilTime
import EventLoop
import Glibc
package import POSIX

/// A notification to the service manager, sd_notify(3).
package enum Notification: Hashable, Sendable {
    case ready
    /// The configuration is being read again, since this time of `CLOCK_MONOTONIC` in microseconds.
    case reloading(since: Int64)
    case stopping
    /// The work goes on. If this does not come in time, the service is killed and started again.
    case watchdog
    /// The next notification comes within this time.
    case extendTimeout(Duration)
    /// A line for `systemctl status`.
    case status(String)

    package static var reloadingNow: Notification {
        .reloading(since: EventLoop.uptime.microseconds)
    }

    /// The lines of the notification in a datagram.
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

    /// The most bytes of a status: the datagram, of at most 4096 bytes, holds other notifications too.
    package static let statusLimit = 3000

    /// A text as one line within the limit, cut between characters.
    private static func oneLine(_ text: String) -> String {
        let bytes = text.utf8.prefix(statusLimit)
        if bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) {
            let isCut = text.utf8.count > statusLimit
            return isCut
                ? String(decoding: bytes.prefix(statusLimit - 3), as: UTF8.self) + "…" : text
        }
        var line = ""
        for character in text {
            let shown = character.isNewline ? " " : character
            guard line.utf8.count + shown.utf8.count <= statusLimit - 3 else { return line + "…" }
            line.append(shown)
        }
        return line
    }
}

/// The socket to the service manager. Sending never waits.
package final class NotifySocket {
    private let socket: DatagramSocket
    private let address: SocketAddress

    /// A socket that sends to `address`. Throws if the process has no descriptor left.
    package init(_ address: SocketAddress) throws(SystemError) {
        self.address = address
        socket = try DatagramSocket()
    }

    /// Sends these notifications in one datagram: the service manager takes all of them or none.
    package func send(_ notifications: [Notification]) throws(SystemError) {
        guard !notifications.isEmpty else { return }
        let text = notifications.map(\.text).joined(separator: "\n")
        try socket.send(Array(text.utf8), to: address)
    }
}

/// The variables of the service manager: the socket, and the limit of the watchdog (sd_watchdog_enabled(3)).
package struct NotifyEnvironment: Hashable, Sendable {
    /// The socket for notifications; nil outside of systemd.
    package var socket: SocketAddress?
    /// The limit between two `watchdog` notifications; they are sent after half of it.
    package var watchdog: Duration?

    /// Reads the variables by `variable`; `processID` is the ID of this process.
    package init(processID: Int32, _ variable: (String) -> String?) {
        socket = variable("NOTIFY_SOCKET").flatMap { SocketAddress($0) }
        guard let microseconds = variable("WATCHDOG_USEC").flatMap({ Int64($0) }), microseconds > 0
        else { return }
        let watched = variable("WATCHDOG_PID")
        guard watched == nil || watched == String(processID) else { return }
        watchdog = .microseconds(microseconds)
    }

    /// Reads the variables of this process, and removes them: notifications of a child would confuse systemd.
    package static func readAndUnset() -> NotifyEnvironment {
        let environment = NotifyEnvironment(processID: getpid()) { name in
            guard let value = unsafe getenv(name) else { return nil }
            return unsafe String(cString: value)
        }
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { unsafe unsetenv(name) }
        return environment
    }
}
