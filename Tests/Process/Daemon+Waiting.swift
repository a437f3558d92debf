import CivilTime
import EventLoop
import Files
import Support
import Testing

extension Daemon {
    /// A daemon that was started, and that has opened the shop.
    static func running(
        _ configuration: String = Daemon.shop, flags: String = Daemon.flags("no")
    ) throws -> Daemon {
        return try Daemon(configuration, flags: flags).start(waitingFor: "running")
    }

    /// Starts the daemon, and waits until the shop is in this state.
    @discardableResult
    func start(
        _ more: [String: String] = [:], through wrapper: [String] = [], waitingFor state: String
    ) throws -> Daemon {
        try start(more, through: wrapper)
        try waitFor(state)
        return self
    }

    /// The same where other tests may use the thread meanwhile.
    @discardableResult
    func start(
        _ more: [String: String] = [:], through wrapper: [String] = [], awaiting state: String
    ) async throws -> Daemon {
        try start(more, through: wrapper)
        try await awaitState(state)
        return self
    }

    @discardableResult
    func start(
        awaitingReason reason: String, state: String? = nil,
        at location: SourceLocation = #_sourceLocation
    ) async throws -> Daemon {
        try start()
        try await awaitReason(reason, state: state, at: location)
        return self
    }

    @discardableResult
    func start(through wrapper: [String] = [], awaitingLine text: String) async throws -> Daemon {
        try start(through: wrapper)
        try await awaitLine(text)
        return self
    }

    /// The flags of the format `service-end` with this word.
    static func flags(_ word: String) -> String { #"{"service_end": "\#(word)"}"# }

    /// Replaces the flags file by those flags, and waits until the shop is in this state.
    func setFlags(
        _ word: String, in file: String = "flags.json", waitingFor state: String? = nil
    ) throws {
        try folder.write(Self.flags(word), to: file)
        if let state { try waitFor(state) }
    }

    /// When a file of the runtime directory was written; 0 if it is not there.
    func fileTime(_ name: String) -> Int64 {
        readable { try File.modificationTime(of: folder("run/\(name)")) } ?? 0
    }

    /// Waits until the daemon that runs has written `host.json`, and a moment until that is as new as the files of
    /// services, after which it is written if it has changed.
    func settle() throws {
        guard program != nil else { return }
        try waitUntil("'host.json' is of this daemon") { [self] in
            fileTime("host.json") > lastReport
        }
        let loop = try EventLoop()
        let deadline = loop.now.boot + .seconds(5)
        while loop.now.boot < deadline {
            let services = readable { try Directory.list(folder("run")) } ?? []
            let last = services.map { fileTime("\($0)/state.json") }.max() ?? 0
            if fileTime("host.json") >= last { return }
            try loop.runOnce(.milliseconds(5))
        }
    }

    /// Makes the last sign of life of a daemon that was killed, or is stopped, two minutes old.
    func ageSignOfLife() throws {
        try Program.succeed("/usr/bin/touch", ["-d", "2 minutes ago", folder("run/alive")])
    }

    func waitFor(line text: String) throws {
        try waitUntil("the log says '\(text)'") { [self] in try log.contains(text) }
    }

    func waitFor(file name: String) throws {
        try waitUntil("'\(name)' is there") { [self] in try File.exists(folder(name)) }
    }

    func waitFor(noFile name: String) throws {
        try waitUntil("'\(name)' is gone") { [self] in try !File.exists(folder(name)) }
    }

    func awaitFile(_ name: String) async throws {
        try await awaitUntil("'\(name)' is there") { try File.exists(folder(name)) }
    }

    func waitUntilItAnswers() throws {
        try waitUntil("it answers") { [self] in try control("refresh").status == 0 }
    }

    func configure(_ text: String) throws { try folder.write(text, to: "killswitchd.toml") }

    /// Replaces the configuration, and has the daemon read it.
    func reload(_ text: String, at location: SourceLocation = #_sourceLocation) throws {
        try configure(text)
        try control("reload").expect(0, at: location)
    }

    func edit(_ before: String, _ after: String) throws {
        let text = try folder.text(of: "killswitchd.toml")
        try #require(text.contains(before))
        try configure(text.replacing(before, with: after))
    }

    var warnings: [Substring] { get throws { try lines(with: "warning: ") } }

    func lines(with text: String) throws -> [Substring] {
        try log.split(separator: "\n").filter { $0.contains(text) }
    }

    func awaitLine(_ text: String) async throws {
        try await Support.waitUntil("the log says '\(text)'", orReport: { try account }) {
            try !lines(with: text).isEmpty
        }
    }

    func awaitState(_ state: String, of service: String = "shop") async throws {
        try await awaitMember("state", state, of: service)
    }

    /// Waits until the verdict has this reason; expects the shop in this state then.
    func awaitReason(
        _ reason: String, state: String? = nil, at location: SourceLocation = #_sourceLocation
    ) async throws {
        try await awaitMember("reason", reason)
        if let state { try expect(state, reason, at: location) }
    }

    func expect(
        _ state: String, _ reason: String, at location: SourceLocation = #_sourceLocation
    ) throws {
        let verdict = [try member("state"), try member("reason")]
        #expect(verdict == ["\"\(state)\"", "\"\(reason)\""], sourceLocation: location)
    }

    func awaitUntil(
        _ what: String, every interval: Duration = .milliseconds(10), _ condition: () throws -> Bool
    ) async throws {
        try await Support.waitUntil(what, every: interval, orReport: { try account }, condition)
    }

    /// Waits until `status` says this, which it does a moment after the log: the daemon handles what is queued first.
    func awaitStatus(_ words: String) async throws {
        try await awaitUntil("status says '\(words)'", every: .milliseconds(100)) {
            let status = try control("status")
            return (status.output + status.errors).contains(words)
        }
    }

    func awaitMember(_ name: String, _ value: String, of service: String = "shop") async throws {
        try await Support.waitUntil("the \(name) is '\(value)'", orReport: { try account }) {
            guard try File.exists(folder("run/\(service)/state.json")) else { return false }
            return try member(name, of: service) == "\"\(value)\""
        }
    }

    /// Waits until the log names as many states of the shop as `expected`, and fails unless they are those.
    func awaitStates(_ expected: [String]) async throws {
        var states: [String] = []
        let matches = {
            states = try self.log.split(separator: "\n").compactMap { line in
                line.firstMatch(of: /shop: ([a-z-]+) \(was/).map { String($0.1) }
            }
            return states.count >= expected.count
        }
        try await Support.waitUntil("there were \(expected)", orReport: { "\(states)" }, matches)
        guard states == expected else { throw TestFailure("the states were \(states)") }
    }

    /// A daemon that has decided and ended: only its files are there.
    static func decided(_ flags: String = flags("no")) throws -> Daemon {
        let daemon = try Daemon(flags: flags)
        #expect(try daemon.run("--once").status == 0)
        return daemon
    }

    /// A daemon that has opened the shop, and answers on its socket.
    static func answering(_ configuration: String = Daemon.shop) throws -> Daemon {
        let daemon = try running(configuration)
        try daemon.waitUntilItAnswers()
        return daemon
    }

    /// Has the state of the shop be out of date.
    func outdate() throws {
        let old = try folder.text(of: "run/shop/state.json").replacing(
            /"valid_until": "[^"]*"/, with: #""valid_until": "2026-01-01T00:00:00+00:00""#)
        try folder.write(old, to: "run/shop/state.json")
    }

    func startControl(_ words: [String]) throws -> Program {
        try Program(try Programs.path(of: "killswitchctl"), onFiles(words))
    }

    /// These words, for this daemon's files. The command of `run` comes last.
    func onFiles(_ words: [String]) -> [String] {
        words.prefix(1) + ["--runtime-directory", folder("run")] + words.dropFirst()
    }
}

/// The flags of a service that is in this state, in the format `status`.
enum StatusFlags: String {
    case running
    case maintenance
    case updateRequired = "update-required"

    var text: String {
        let (isInactive, mustUpdate) = (self == .maintenance, self == .updateRequired)
        return #"{"apiInactive": \#(isInactive), "forceUpdate": \#(mustUpdate)}"#
    }
}
