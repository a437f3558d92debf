import CivilTime
import EventLoop
import Files
import POSIX
import Support
import Testing

@Suite(.timeLimit(.minutes(5))) struct NoticeFileTests {
    private static let configuration = Daemon.service(
        format: "switch", #"time_zone = "UTC""#, #"min_closed = "0s""#, #"notify_before = ["400d"]"#
    )

    private func countdown(_ title: String = "") throws -> String {
        let end = EventLoop.wallClock + .seconds(30 * 86_400)
        return
            #"{"state": "countdown", "ends_at": "\#(Zone.utc.rfc3339(end))", "title": "\#(title)"}"#
    }

    /// The text of a file; empty while it is not there.
    private func lines(_ daemon: Daemon, _ file: String) throws -> String {
        guard try File.exists(daemon.folder("run/\(file)")) else { return "" }
        return try daemon.folder.text(of: "run/\(file)")
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
        try daemon.waitUntil("motd is empty") { try daemon.folder.text(of: "run/motd") == "" }
        try daemon.waitUntil("the empty text is sent") { try receiver.next() == "" }
    }

    /// The text waits a second, and not longer than the daemon runs.
    @Test func aDaemonThatStopsSendsWhatRootDoesNotHaveYet() throws {
        let daemon = try Daemon(Self.configuration, flags: try countdown())
        let receiver = try DatagramListener(.path(daemon.folder("run-motd.sock")))
        try daemon.start(waitingFor: "countdown")
        try daemon.waitUntil("motd has it") { try lines(daemon, "motd").contains("shop ends at") }
        try daemon.stop()
        #expect(try receiver.next() == lines(daemon, "motd"))
    }

    /// Root has its own file: that the daemon's cannot be written does not keep the text from it.
    @Test func aTextIsSentThoughTheNextCannotBeWritten() throws {
        let daemon = try Daemon(Self.configuration, flags: try countdown())
        let receiver = try DatagramListener(.path(daemon.folder("run-motd.sock")))
        try daemon.start(waitingFor: "countdown")
        try daemon.waitUntil("motd has it") { try lines(daemon, "motd").contains("shop ends at") }
        let text = try lines(daemon, "motd")
        // No file can take the place of a folder.
        let script = #"until mkdir "$1" 2>&-; do rm -f "$1"; done"#
        try Program.run("/bin/sh", ["-c", script, "sh", daemon.folder("run/motd")]).expect(0)
        try daemon.folder.write(#"{"state": "running"}"#, to: "flags.json")
        #expect(try receiver.next(within: 30_000) == text)
    }

    @Test func aHostileTitleHarmsNeitherTheLogNorTheFiles() throws {
        let title =
            #"\u001b[2J\u202e<script>${HOME}\u0000\nsecond "# + String(repeating: "x", count: 150)
        let daemon = try Daemon(Self.configuration, flags: try countdown(title)).start()
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

    @Test(arguments: ["alive", "motd"]) func noServiceCanHaveTheNameOfAFile(_ name: String) throws {
        let daemon = try Daemon(
            "[service.\(name)]\nsource = \"file:flags.json\"\nformat = \"switch\"\n")
        try daemon.run("--check").expect(
            78, errors: "bad name '\(name)' of a service: the daemon has a file of")
    }
}

/// The times of planned maintenance are printed in the time zone of the service, with its offset, whatever zone the
/// flags and the host have.
@Suite(.timeLimit(.minutes(5))) struct WindowZoneTests {
    @Test func everySurfacePrintsAWindowInTheZoneOfTheService() throws {
        let begin = EventLoop.wallClock + .seconds(2 * 86_400)
        let end = begin + .seconds(7200)
        let daemon = try Daemon(
            Daemon.service(
                format: "switch", #"time_zone = "Asia/Tokyo""#, #"notify_before = ["7d"]"#),
            flags: """
                {"state": "running", "windows": [
                  {"from": "\(Zone.utc.rfc3339(begin))", "until": "\(Zone.utc.rfc3339(end))"}]}
                """)
        try daemon.start(["TZ": "America/New_York"], waitingFor: "running")
        try daemon.waitUntilItAnswers()
        // Tokyo has no daylight saving.
        let (from, until) = (tokyo(begin), tokyo(end))
        let clock = String(from.dropFirst(11).prefix(5))
        try daemon.waitUntil("the files are there") {
            try daemon.folder.text(of: "run/motd").contains("maintenance")
        }
        var texts = [
            "status": try daemon.control("status", "--json").output,
            "explain": try daemon.control("explain", "shop").output,
            "reason_text": try daemon.control("get", "shop", "reason_text").output,
            "state.env": try daemon.folder.text(of: "run/shop/state.env"),
            "log": try daemon.log,
        ]
        for (name, text) in texts {
            #expect(
                text.contains(from) && (text.contains(until) || name == "state.env"),
                "\(name): \(text)")
        }
        let motd = try daemon.folder.text(of: "run/motd")
        #expect(motd.contains(clock), "\(motd)")
        let page = try daemon.folder.text(of: "run/shop/page.html")
        #expect(page.contains(clock) && page.contains("(UTC+09:00)"), "\(page)")
        // Sources have no zone: their times are in UTC, as in host.json.
        if let status = texts["status"], let sources = status.firstRange(of: "\"sources\"") {
            texts["status"] = String(status[..<sources.lowerBound])
        }
        for text in [motd, page] + texts.values {
            // `explain` quotes the flags as they were published.
            let text = text.split(separator: "\n").filter { !$0.contains("windows = ") }.joined()
            #expect(!text.contains("+00:00") && !text.contains("-05:00"), "\(text)")
        }
    }

    private func tokyo(_ instant: Instant) -> String {
        Zone.utc.rfc3339(instant + .seconds(9 * 3600)).replacing("+00:00", with: "+09:00")
    }
}
