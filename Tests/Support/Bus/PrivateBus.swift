import CivilTime
package import EventLoop
import Files
import Glibc
import Support

/// A message bus for one test, which ends with the object.
package final class PrivateBus {
    private let folder: TemporaryFolder
    private var daemon: Program
    package let loop: EventLoop
    package let address: String

    package init() throws {
        folder = try TemporaryFolder()
        loop = try EventLoop()
        address = "unix:path=\(folder("socket"))"
        daemon = try Self.launch(folder, address)
        try awaitSocket()
    }

    /// Kills the bus, as when dbus is restarted.
    package func end() throws {
        daemon.send(SIGKILL)
        _ = try daemon.wait()
    }

    /// Starts the bus again, at the same address.
    package func launchAgain() throws {
        try File.remove(folder("socket"))
        daemon = try Self.launch(folder, address)
        try awaitSocket()
    }

    /// Suspends the bus, and resumes it.
    package func freeze() { daemon.send(SIGSTOP) }
    package func thaw() { daemon.send(SIGCONT) }

    /// Runs the loop until the condition holds; fails after half a minute.
    package func run(until condition: () -> Bool) throws {
        let deadline = loop.now.boot + .seconds(30)
        while !condition() {
            guard loop.now.boot < deadline else { throw TestFailure("timed out") }
            try loop.runOnce(.milliseconds(100))
        }
    }

    private static func launch(_ folder: TemporaryFolder, _ address: String) throws -> Program {
        try folder.write(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <listen>\(address)</listen>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
                <allow user="*"/>
              </policy>
            </busconfig>
            """, to: "bus.conf")
        return try Program(
            "/usr/bin/dbus-daemon",
            [
                "--nofork", "--nosyslog", "--nopidfile", "--print-address",
                "--config-file=\(folder("bus.conf"))",
            ])
    }

    /// The bus prints its address when it listens; the socket file exists a moment earlier.
    private func awaitSocket() throws {
        let deadline = loop.now.boot + .seconds(30)
        while try daemon.output.isEmpty {
            guard loop.now.boot < deadline else {
                throw TestFailure("start a bus: \(try daemon.errors)")
            }
            try loop.runOnce(.milliseconds(10))
        }
    }
}
