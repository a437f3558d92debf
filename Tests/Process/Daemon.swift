import CivilTime
import EventLoop
import Files
import Glibc
import JSON
import Support

/// A killswitchd of a test's own, in a folder of its own, with one flags file `flags.json`.
final class Daemon {
    let folder: TemporaryFolder
    private(set) var program: Program?
    /// What its environment holds.
    var environment: [String: String] = [:]

    /// Writes the configuration and the first flags; starts nothing yet.
    init(_ configuration: String = Daemon.shop, flags: String? = #"{"service_end": "no"}"#) throws {
        folder = try TemporaryFolder()
        try folder.write(configuration, to: "killswitchd.toml")
        if let flags { try folder.write(flags, to: "flags.json") }
    }

    /// Ends it before its folder goes.
    deinit { program = nil }

    /// One service on the flags file. A gate may reopen at once, so that a test need not wait.
    static let shop = """
        [service.shop]
        source = "file:flags.json"
        format = "service-end"
        min_closed = "0s"
        time_zone = "Asia/Tokyo"
        """

    var options: [String] {
        [
            "--config", folder("killswitchd.toml"), "--runtime-directory", folder("run"),
            "--state-directory", folder("state"),
        ]
    }

    /// Starts it, through the program `wrapper` and its arguments where one is given, with these
    /// variables more.
    func start(
        _ more: [String: String] = [:], through wrapper: [String] = []
    ) throws {
        let command = wrapper + [try Programs.path(of: "killswitchd")] + options
        program = try Program(
            command[0], Array(command.dropFirst()),
            environment: environment.merging(more) { _, new in new })
    }

    /// Ends it by a signal, and gives its exit status.
    @discardableResult
    func stop(_ signal: Int32 = SIGTERM) throws -> Int32 {
        guard let program else { throw TestFailure("no daemon was started") }
        program.send(signal)
        let status = try program.wait()
        self.program = nil
        return status
    }

    /// Runs the program to its end with these options more.
    func run(_ more: String...) throws -> Program.Result {
        try Program.run(try Programs.path(of: "killswitchd"), options + more)
    }

    /// Runs killswitchctl on this daemon's files.
    func control(_ arguments: String...) throws -> Program.Result {
        try Program.run(
            try Programs.path(of: "killswitchctl"),
            arguments + ["--runtime-directory", folder("run")])
    }

    /// What it has said so far.
    var log: String { get throws { try program?.errors ?? "" } }

    /// The member of a service's state.json, as JSON.
    func member(_ name: String, of service: String = "shop") throws -> String? {
        let bytes = try File.read(folder("run/\(service)/state.json"), limit: 1 << 20)
        return try JSON.Value.parse(bytes).object?[name]?.serialized()
    }

    /// Waits until a service is in this state; fails the test after half a minute.
    func waitFor(_ state: String, of service: String = "shop") throws {
        try waitUntil("'\(service)' is '\(state)'") { [self] in
            guard try File.exists(folder("run/\(service)/state.json")) else { return false }
            return try member("state", of: service) == "\"\(state)\""
        }
    }

    /// Waits for a condition, which is looked at every few milliseconds, for at most half a minute.
    func waitUntil(_ what: String, _ condition: @escaping () throws -> Bool) throws {
        let loop = try EventLoop()
        let deadline = loop.now.boot + .seconds(30)
        while try !condition() {
            guard loop.now.boot < deadline else {
                throw TestFailure("it never was so that \(what); log:\n\(try log)")
            }
            try loop.runOnce(.milliseconds(5))
        }
    }

    /// Lets time pass in which nothing else can be waited for; other tests have the thread meanwhile.
    func pause(for time: Duration) async throws {
        try await Task.sleep(for: time)
    }

    /// Waits without giving up the processor, for a moment of less than 50 ms that has to be hit.
    func spin(for time: Duration) throws {
        let loop = try EventLoop()
        let end = loop.now.boot + time
        while loop.now.boot < end {}
    }
}
