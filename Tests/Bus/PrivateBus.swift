import Bus
import CivilTime
import EventLoop
import Files
import Glibc
import Support

/// A message bus of one test's own, and gone with it.
final class PrivateBus {
    private let folder: TemporaryFolder
    private var daemon: Program
    let loop: EventLoop
    let address: String

    init() throws {
        folder = try TemporaryFolder()
        loop = try EventLoop()
        address = "unix:path=\(folder("socket"))"
        daemon = try Self.launch(folder, address)
        try awaitSocket()
    }

    /// Ends it, as when dbus is restarted.
    func end() throws {
        daemon.send(SIGKILL)
        _ = try daemon.wait()
    }

    /// Starts it anew, at the same address.
    func launchAgain() throws {
        try File.remove(folder("socket"))
        daemon = try Self.launch(folder, address)
        try awaitSocket()
    }

    /// Stops and goes on.
    func freeze() { daemon.send(SIGSTOP) }
    func thaw() { daemon.send(SIGCONT) }

    /// Runs the loop until something is so; fails after half a minute.
    func run(until condition: () -> Bool) throws {
        let deadline = loop.now.boot + .seconds(30)
        while !condition() {
            guard loop.now.boot < deadline else { throw TestFailure("it never was so") }
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

    /// Its socket is there a moment before it listens; it prints the address when it does.
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

extension Call {
    /// A method of the bus itself.
    static func ofBus(_ member: String, _ arguments: [Argument] = []) -> Call {
        Call(
            "ask the bus", to: "org.freedesktop.DBus", path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus", member: member, arguments)
    }
}
