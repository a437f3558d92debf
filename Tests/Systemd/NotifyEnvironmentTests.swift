import Glibc
import POSIX
import Systemd
import Testing

/// The environment variables of the service manager.
@Suite struct NotifyEnvironmentTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let variables: [String: String]
        var socket: SocketAddress?
        var watchdog: Duration?
    }

    static let cases: [Case] = [
        Case(testDescription: "nobody listens", variables: [:]),
        Case(
            testDescription: "a socket in the file system",
            variables: ["NOTIFY_SOCKET": "/run/systemd/notify"],
            socket: .path("/run/systemd/notify")),
        Case(
            testDescription: "an abstract socket", variables: ["NOTIFY_SOCKET": "@notify"],
            socket: .abstract("notify")),
        Case(
            testDescription: "a kind of socket that is not known",
            variables: ["NOTIFY_SOCKET": "vsock:2:1234"]),
        Case(
            testDescription: "a watchdog for whoever runs",
            variables: ["WATCHDOG_USEC": "60000000"], watchdog: .seconds(60)),
        Case(
            testDescription: "a watchdog for us",
            variables: ["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "42"], watchdog: .seconds(3)),
        Case(
            testDescription: "a watchdog for another process",
            variables: ["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "43"]),
        Case(testDescription: "nonsense", variables: ["WATCHDOG_USEC": "soon"]),
        Case(testDescription: "zero is off", variables: ["WATCHDOG_USEC": "0"]),
    ]

    /// A child process must not send messages for the daemon.
    @Test func theVariablesAreRemovedFromTheEnvironment() {
        unsafe setenv("NOTIFY_SOCKET", "/nowhere", 1)
        unsafe setenv("WATCHDOG_USEC", "1000000", 1)
        unsafe setenv("WATCHDOG_PID", "\(getpid())", 1)
        let taken = NotifyEnvironment.readAndUnset()
        #expect(taken.socket == .path("/nowhere") && taken.watchdog == .seconds(1))
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] {
            #expect(unsafe getenv(name) == nil)
        }
    }

    @Test(arguments: cases) func theSocketAndTheWatchdogAreReadFromVariables(_ wanted: Case) {
        let found = NotifyEnvironment(processID: 42) { wanted.variables[$0] }
        #expect(found.socket == wanted.socket)
        #expect(found.watchdog == wanted.watchdog)
    }
}
