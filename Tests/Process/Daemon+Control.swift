import Support
import Testing

extension Program {
    /// Runs killswitchctl to its end.
    static func killswitchctl(
        _ words: [String], environment: [String: String] = [:]
    ) throws -> Result {
        try run(try Programs.path(of: "killswitchctl"), words, environment: environment)
    }
}

extension Daemon {
    /// A daemon that has decided and ended: only its files are there.
    static func decided(_ flags: String = flags("no")) throws -> Daemon {
        let daemon = try Daemon(flags: flags)
        #expect(try daemon.run("--once").status == 0)
        return daemon
    }

    /// A daemon that has opened the shop, and answers on its socket.
    static func answering(_ configuration: String = Daemon.shop) throws -> Daemon {
        let daemon = try running(configuration)
        try daemon.waitForAnswers()
        return daemon
    }

    /// Waits until it answers.
    func waitForAnswers() throws {
        try waitUntil("it answers") { try self.control("refresh").status == 0 }
    }

    /// Has the state of the shop be out of date.
    func outdate() throws {
        let old = try folder.text(of: "run/shop/state.json").replacing(
            /"valid_until": "[^"]*"/, with: #""valid_until": "2026-01-01T00:00:00+00:00""#)
        try folder.write(old, to: "run/shop/state.json")
    }

    /// Runs killswitchctl on this daemon's files.
    func control(_ words: [String]) throws -> Program.Result {
        try Program.killswitchctl(onFiles(words))
    }

    /// Starts killswitchctl on this daemon's files.
    func startControl(_ words: [String]) throws -> Program {
        try Program(try Programs.path(of: "killswitchctl"), onFiles(words))
    }

    /// The command of `run` comes last.
    private func onFiles(_ words: [String]) -> [String] {
        words.prefix(1) + ["--runtime-directory", folder("run")] + words.dropFirst()
    }
}
