import CivilTime
import EventLoop
import Files
import Glibc
import JSON
import Support

/// A killswitchd for one test, in a temporary folder with one flags file `flags.json`.
final class Daemon {
    let folder: TemporaryFolder
    private(set) var program: Program?
    /// When `host.json` had been written as the program was started; 0 if it was not there.
    private(set) var lastReport: Int64 = 0
    var environment: [String: String] = [:]
    /// The server that it asks, which lives as long as the daemon.
    var server: AnyObject?

    /// Writes the configuration and the first flags; starts nothing yet.
    init(_ configuration: String = Daemon.shop, flags: String? = flags("no")) throws {
        folder = try TemporaryFolder()
        try folder.write(configuration, to: "killswitchd.toml")
        if let flags { try folder.write(flags, to: "flags.json") }
    }

    /// Writes a configuration whose service 'shop' reads the source 'app'. `source` and `service` are the
    /// other lines of those tables.
    convenience init(source: String, service: String, flags: String? = nil) throws {
        try self.init(
            """
            [source.app]
            \(source)
            [service.shop]
            source = "app"
            min_closed = "0s"
            \(service)
            """, flags: flags)
    }

    /// Ends the program before its folder is removed.
    deinit { program = nil }

    /// One service on the flags file. Its gate may reopen at once, so that tests need not wait.
    static let shop = """
        [service.shop]
        source = "file:flags.json"
        format = "service-end"
        min_closed = "0s"
        time_zone = "Asia/Tokyo"
        """

    /// A service on a source, to be added to a configuration; `more` are the other lines of its table.
    static func service(
        _ name: String = "shop", on source: String = "file:flags.json",
        format: String = "service-end", _ more: String...
    ) -> String {
        let lines = ["", "[service.\(name)]", "source = \"\(source)\"", "format = \"\(format)\""]
        return (lines + more).joined(separator: "\n")
    }

    /// The same service on a source of type `file` that is polled at this interval.
    static func followingFile(interval: String) -> String {
        """
        [source.app]
        type = "file"
        path = "flags.json"
        interval = "\(interval)"
        """ + service(on: "app", #"min_closed = "0s""#)
    }

    var options: [String] {
        [
            "--config", folder("killswitchd.toml"), "--runtime-directory", folder("run"),
            "--state-directory", folder("state"),
        ]
    }

    /// Starts the daemon with these additional environment variables. `wrapper` is a program, and its
    /// arguments, that runs the daemon.
    @discardableResult
    func start(_ more: [String: String] = [:], through wrapper: [String] = []) throws -> Daemon {
        let command = wrapper + [try Programs.path(of: "killswitchd")] + options
        lastReport = fileTime("host.json")
        program = try Program(
            command[0], Array(command.dropFirst()),
            environment: environment.merging(more) { _, new in new })
        return self
    }

    /// Ends the daemon by a signal; returns its exit status.
    @discardableResult func stop(_ signal: Int32 = SIGTERM) throws -> Int32 {
        guard let program else { throw TestFailure("no daemon was started") }
        program.send(signal)
        let status = try program.wait()
        self.program = nil
        return status
    }

    /// Runs killswitchd with these additional options until it ends.
    func run(_ more: String...) throws -> Program.Result {
        try Programs.run("killswitchd", options + more)
    }

    /// Runs killswitchctl on this daemon's files.
    func control(_ arguments: String...) throws -> Program.Result { try control(arguments) }

    func control(_ arguments: [String]) throws -> Program.Result {
        if ["status", "explain", "units"].contains(arguments.first) { try settle() }
        return try Programs.run("killswitchctl", onFiles(arguments))
    }

    var log: String { get throws { try program?.errors ?? "" } }

    /// The log, and whether the daemon runs: a test has waited in vain.
    var account: String { get throws { "\(try log)\(program?.standing ?? "it does not run")" } }

    /// The member of a service's state.json, as JSON.
    func member(_ name: String, of service: String = "shop") throws -> String? {
        let bytes = try File.read(folder("run/\(service)/state.json"), limit: 1 << 20)
        return try JSON.Value.parse(bytes).object?[name]?.serialized()
    }

    /// Waits until a service is in this state; fails the test after `longestWait`.
    func waitFor(_ state: String, of service: String = "shop") throws {
        try waitUntil("'\(service)' is '\(state)'") { [self] in
            guard try File.exists(folder("run/\(service)/state.json")) else { return false }
            return try member("state", of: service) == "\"\(state)\""
        }
    }

    /// Waits for a condition, which is checked every few milliseconds, for `longestWait`.
    func waitUntil(_ what: String, _ condition: @escaping () throws -> Bool) throws {
        let loop = try EventLoop()
        let deadline = loop.now.boot + longestWait
        var checks = 1
        while try !holds(condition) {
            guard checks < 10 || loop.now.boot < deadline else {
                throw TestFailure("timed out waiting until \(what); log:\n\(try account)")
            }
            checks += 1
            try loop.runOnce(.milliseconds(5))
        }
    }

    /// Lets time pass where there is no condition to wait for. Other tests may use the thread.
    func pause(for time: Duration) async throws { try await Task.sleep(for: time) }

    /// Waits for a precise time of less than 50 ms, without giving up the processor.
    func spin(for time: Duration) throws {
        let loop = try EventLoop()
        let end = loop.now.boot + time
        while loop.now.boot < end {}
    }
}
