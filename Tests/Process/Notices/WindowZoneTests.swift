import CivilTime
import EventLoop
import Support
import Testing

/// The times of planned maintenance are printed in the time zone of the service, with its offset, whatever zone the
/// flags and the host have.
@Suite(.timeLimit(.minutes(5))) struct WindowZoneTests {
    @Test func everySurfacePrintsAWindowInTheZoneOfTheService() throws {
        let begin = EventLoop.wallClock + .seconds(2 * 86_400)
        let end = begin + .seconds(7200)
        let daemon = try Daemon(
            """
            [service.shop]
            source = "file:flags.json"
            format = "switch"
            time_zone = "Asia/Tokyo"
            notify_before = ["7d"]
            """,
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
        let texts = [
            "status": try daemon.control("status", "--json").output,
            "explain": try daemon.control(
                "explain", "shop", "--state-directory", daemon.folder("state")
            )
            .output,
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
