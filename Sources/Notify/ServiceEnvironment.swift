import CivilTime
package import Datagrams
import Glibc

/// The environment variables of the service manager: the socket for notifications, and the limit of
/// the watchdog (sd_watchdog_enabled(3)).
package struct ServiceEnvironment: Hashable, Sendable {
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

    /// Reads the variables from the environment of this process, and removes them there:
    /// notifications of a child would confuse the service manager.
    package static func take() -> ServiceEnvironment {
        let environment = ServiceEnvironment(processID: getpid()) { name in
            guard let value = unsafe getenv(name) else { return nil }
            return unsafe String(cString: value)
        }
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] {
            unsafe unsetenv(name)
        }
        return environment
    }
}
