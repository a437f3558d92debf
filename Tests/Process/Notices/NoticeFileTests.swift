import CivilTime
import EventLoop
import Files
import POSIX
import Support
import Testing

/// What the daemon writes and logs of announced ends.
@Suite(.timeLimit(.minutes(5))) struct NoticeFileTests {
    private static let configuration = """
        [service.shop]
        source = "file:flags.json"
        format = "switch"
        time_zone = "UTC"
        min_closed = "0s"
        notify_before = ["400d"]
        """

    private func countdown(_ title: String = "") throws -> String {
        let end = EventLoop.wallClock + .seconds(30 * 86_400)
        return
            #"{"state": "countdown", "ends_at": "\#(Zone.utc.rfc3339(end))", "title": "\#(title)"}"#
    }

    /// The text of a file; empty while it is not there.
    private func lines(_ daemon: Daemon, _ file: String) throws -> String {
        guard try File.exists(daemon.folder("run/\(file)")) else { return "" }
        return try text(daemon, file)
    }

    private func text(_ daemon: Daemon, _ file: String) throws -> String {
        String(decoding: try File.read(daemon.folder("run/\(file)"), limit: 1 << 20), as: UTF8.self)
    }

    @Test func aNoticeIsInTheLogInTheEnvironmentAndInMotdOverARestartOnce() throws {
        let daemon = try Daemon(Self.configuration, flags: try countdown("Thanks"))
        let receiver = try DatagramListener(.path(daemon.folder("run-motd.sock")))
        try daemon.start(waitingFor: "countdown")
        try daemon.waitFor(line: "killswitchd: shop: it ends in 30 days, at 20")
        let environment = try lines(daemon, "shop/state.env")
        #expect(environment.contains("KILLSWITCH_NOTICE=\"shop: it ends in 30 days, at 20"))
        #expect(environment.contains("KILLSWITCH_NOTICE_KIND=\"end\"\n"))
        #expect(environment.contains("KILLSWITCH_NOTICE_BEFORE=\"34560000\"\n"))
        try daemon.waitUntil("motd has it") {
            try lines(daemon, "motd").hasPrefix("Kill switches: 1 end announced\n  shop ends at 20")
        }
        // Root writes what is sent to /run/motd.d, and reads no file of the daemon.
        #expect(try receiver.next() == lines(daemon, "motd"))
        try daemon.stop()
        try daemon.start()
        try daemon.waitUntilItAnswers()
        #expect(try !daemon.log.contains("it ends in"))
        try daemon.folder.write(#"{"state": "running"}"#, to: "flags.json")
        try daemon.waitFor(line: "killswitchd: shop: its end of 20")
        try daemon.waitUntil("motd is empty") { try text(daemon, "motd") == "" }
        try daemon.waitUntil("the empty text is sent") { try receiver.next() == "" }
    }

    @Test func aHostileTitleHarmsNeitherTheLogNorTheFiles() throws {
        let title =
            #"\u001b[2J\u202e<script>${HOME}\u0000\nsecond "#
            + String(repeating: "x", count: 150)
        let daemon = try Daemon(Self.configuration, flags: try countdown(title))
        try daemon.start()
        try daemon.waitFor(line: "it ends in 30 days")
        try daemon.waitUntil("motd has it") { try lines(daemon, "motd").contains("shop ends at") }
        for text in [try daemon.log, try lines(daemon, "motd")] {
            #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}") && !text.contains("\0"))
            #expect(text.split(separator: "\n").allSatisfy { $0.utf8.count < 600 })
        }
        let script = #"set -eu; . "$1"; printf %s "$KILLSWITCH_NOTICE" | wc -l"#
        let result = try Program.run(
            "/bin/sh", ["-c", script, "sh", daemon.folder("run/shop/state.env")])
        #expect(result.status == 0 && result.output == "0\n", "\(result.errors)")
    }

    @Test(arguments: ["alive", "motd"])
    func noServiceCanHaveTheNameOfAFile(_ name: String) throws {
        let daemon = try Daemon(
            "[service.\(name)]\nsource = \"file:flags.json\"\nformat = \"switch\"\n")
        try daemon.run("--check").expect(
            78, errors: "bad name '\(name)' of a service: the daemon has a file")
    }
}
