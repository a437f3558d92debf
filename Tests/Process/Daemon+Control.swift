import Support
import Testing

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
        try daemon.waitUntilItAnswers()
        return daemon
    }

    /// Has the state of the shop be out of date.
    func outdate() throws {
        let old = try folder.text(of: "run/shop/state.json").replacing(
            /"valid_until": "[^"]*"/, with: #""valid_until": "2026-01-01T00:00:00+00:00""#)
        try folder.write(old, to: "run/shop/state.json")
    }

    /// Starts killswitchctl on this daemon's files.
    func startControl(_ words: [String]) throws -> Program {
        try Program(try Programs.path(of: "killswitchctl"), onFiles(words))
    }

    /// These words, for this daemon's files. The command of `run` comes last.
    func onFiles(_ words: [String]) -> [String] {
        words.prefix(1) + ["--runtime-directory", folder("run")] + words.dropFirst()
    }
}
