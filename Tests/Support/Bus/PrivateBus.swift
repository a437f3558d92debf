import CivilTime
package import EventLoop
import Files
import Glibc
import Support

/// A message bus for one test, which ends with the object.
package final class PrivateBus {
    private let folder: TemporaryFolder
    private let denied: String?
    private var daemon: Program
    package let loop: EventLoop
    package let address: String

    /// `denied` is a method of the bus that nobody may call.
    package init(denying denied: String? = nil) throws {
        self.denied = denied
        folder = try TemporaryFolder()
        loop = try EventLoop()
        address = "unix:path=\(folder("socket"))"
        daemon = try Self.launch(folder, address, denying: denied)
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
        daemon = try Self.launch(folder, address, denying: denied)
        try awaitSocket()
    }

    /// Suspends the bus, and resumes it.
    package func freeze() { daemon.send(SIGSTOP) }
    package func thaw() { daemon.send(SIGCONT) }

    /// Sends a signal to each connection, as everybody may: its path, interface and name, and the arguments as
    /// busctl(1) takes them. It has come to the bus when this returns.
    package func forge(_ signal: [String]) throws {
        let rows = try busctl(["list", "--unique", "--no-legend"]).split(separator: "\n")
        for name in rows.compactMap({ $0.split(separator: " ").first }) {
            _ = try busctl(["--destination=\(name)", "emit"] + signal)
        }
    }

    /// Runs the loop until the condition holds; fails after two minutes.
    package func run(until condition: () -> Bool) throws {
        let deadline = loop.now.boot + longestWait
        while !condition() {
            guard loop.now.boot < deadline else { throw TestFailure("timed out") }
            try loop.runOnce(.milliseconds(100))
        }
    }

    private func busctl(_ arguments: [String]) throws -> String {
        try Program.succeed("/usr/bin/busctl", ["--address=\(address)"] + arguments)
    }

    private static func launch(
        _ folder: TemporaryFolder, _ address: String, denying denied: String?
    ) throws -> Program {
        let denial = denied.map {
            "<deny send_interface=\"org.freedesktop.DBus\" send_member=\"\($0)\"/>"
        }
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
                \(denial ?? "")
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
        let deadline = loop.now.boot + longestWait
        while try daemon.output.isEmpty {
            guard loop.now.boot < deadline else {
                throw TestFailure("start a bus: \(try daemon.errors)")
            }
            try loop.runOnce(.milliseconds(10))
        }
    }
}
