import CivilTime
package import Datagrams
import Glibc

/// What the service manager tells a service by its environment: where to send words, and how often
/// it wants to hear that the work goes on (sd_watchdog_enabled(3)).
package struct ServiceEnvironment: Hashable, Sendable {
    package var socket: SocketAddress?
    /// Half of it is the time between two pings.
    package var watchdog: Duration?

    /// Reads it from variables; `processID` is that of this process.
    package init(processID: Int32, _ variable: (String) -> String?) {
        socket = variable("NOTIFY_SOCKET").flatMap { SocketAddress($0) }
        guard let microseconds = variable("WATCHDOG_USEC").flatMap({ Int64($0) }), microseconds > 0
        else { return }
        let watched = variable("WATCHDOG_PID")
        guard watched == nil || watched == String(processID) else { return }
        watchdog = .microseconds(microseconds)
    }

    /// Reads it from this process's environment, and removes it there: a child that sent words in
    /// our name would confuse the service manager.
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
