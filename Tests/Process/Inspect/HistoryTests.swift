import Decision
import JSON
import Storage
import Support
import Testing

/// `killswitchctl history`, on a journal file that systemd-journal-remote(8) makes.
@Suite(.timeLimit(.minutes(5))) struct HistoryTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let entries = [
            entry(at: 1_799_990_000, .decided, service: "shop", "shop: running: so it is"),
            entry(at: 1_799_990_100, .decided, service: "web", "web: ended: so it is"),
            entry(
                at: 1_799_990_200, .decided, service: "shop",
                "shop: maintenance (was running): 'alice (uid 1042)' has forced it",
                [
                    "KILLSWITCH_STATE": "maintenance", "KILLSWITCH_GATE": "closed",
                    "KILLSWITCH_REASON": "override", "KILLSWITCH_AUTHOR": "alice (uid 1042)",
                    "KILLSWITCH_CAUSE": "disk swap", "KILLSWITCH_DAYS_LEFT": "3",
                ]),
            entry(at: 1_799_990_300, .decided, service: "shop", "shop: forged", user: 1042),
            entry(at: 1_799_990_400, .sourceRecovered, service: "shop", "source 'shop': no"),
            entry(
                at: 1_799_990_450, .closingHeld, service: "shop",
                "2 services would close at once", also: "web"),
            entry(
                at: 1_799_990_460, .closingConfirmed, service: "shop",
                "'alice (uid 1042)' confirms their closing: shop, web", also: "web"),
            entry(at: 1_799_990_500, .released, service: "shop", "shop: \u{1B}[31mreleased"),
        ]
        try folder.write(entries.joined(), to: "export")
        try Program.run(
            "/lib/systemd/systemd-journal-remote",
            ["--output=\(folder("test.journal"))", folder("export")]
        ).expect(0)
    }

    /// One entry in the export format of systemd. Its time is in seconds since 1970.
    private func entry(
        at time: Int, _ kind: LogMessage.Kind, service: String, _ message: String,
        _ more: [String: String] = [:], user: Int = 0, also other: String? = nil
    ) -> String {
        let boot = "_BOOT_ID=c1d2e3f405162738495a6b7c8d9eafb0"
        let fields = [
            "MESSAGE_ID": kind.row.messageID, "MESSAGE": message, "KILLSWITCH_SERVICE": service,
            "_UID": "\(user)",
        ].merging(more) { _, new in new }
        let lines =
            fields.map { "\($0)=\($1)\n" }.joined()
            + (other.map { "KILLSWITCH_SERVICE=\($0)\n" } ?? "")
        return
            "__REALTIME_TIMESTAMP=\(time)000000\n__MONOTONIC_TIMESTAMP=\(time - 1_799_900_000)000000\n"
            + "\(boot)\n\(lines)\n"
    }

    private func history(_ arguments: String...) throws -> Program.Result {
        try Programs.run(
            "killswitchctl",
            ["history", "--directory", folder.path, "--runtime-directory", folder.path] + arguments,
            environment: ["TZ": "UTC"])
    }

    /// The lines without their times, which are in the zone of the host.
    private func sentences(_ result: Program.Result) -> [Substring] {
        result.output.split(separator: "\n").map {
            $0.split(separator: " ", maxSplits: 1).last ?? ""
        }
    }

    @Test func pastDecisionsAndOrdersAreLinesTheOldestFirst() throws {
        let all = try history()
        #expect(all.status == 0 && all.errors == "")
        #expect(
            sentences(all) == [
                "shop: running: so it is", "web: ended: so it is",
                "shop: maintenance (was running): 'alice (uid 1042)' has forced it",
                "2 services would close at once",
                "'alice (uid 1042)' confirms their closing: shop, web",
                "shop: \u{FFFD}[31mreleased",
            ])
    }

    @Test func historyIsLimitedToAServiceAndATime() throws {
        #expect(sentences(try history("shop")).count == 5)
        let since = try history("shop", "--since", "2027-01-15T05:16:40Z")
        #expect(
            sentences(since).first
                == "shop: maintenance (was running): 'alice (uid 1042)' has forced it"
        )
        let none = try history("shop", "--since", "2099-01-01T00:00:00Z")
        #expect(none.status == 0 && none.output == "")
        #expect(none.errors == "killswitchctl: the journal has no such entries\n")
        try history("--since", "soon").expect(2)
    }

    /// Such entries once had no service in the journal, and the history of no service showed them.
    @Test func anEventOfSeveralServicesIsInTheHistoryOfEach() throws {
        #expect(
            sentences(try history("web")) == [
                "web: ended: so it is", "2 services would close at once",
                "'alice (uid 1042)' confirms their closing: shop, web",
            ])
        let member = { (name: String, result: Program.Result) in
            let line = result.output.split(separator: "\n").first { $0.contains("at once") }
            return try JSON.Value.parse(String(try #require(line))).object?[name]
        }
        #expect(try member("service", history("--json", "web")) == "web")
        #expect(try member("service", history("--json")) == .null)
        #expect(try member("services", history("--json")) == ["shop", "web"])
    }

    @Test func aServiceWithoutEntriesAndWithoutFilesIsUnknown() throws {
        let result = try history("shpo").expect(4)
        #expect(result.errors == "killswitchctl: no such service 'shpo'; no service is known yet\n")
    }

    @Test func entriesThatAnotherUserForgedAreIgnored() throws {
        let journal = try Program.run(
            "/usr/bin/journalctl", ["--file=\(folder("test.journal"))", "--output=cat"])
        #expect(journal.output.contains("shop: forged\n"))
        #expect(try !history().output.contains("forged"))
    }

    @Test func historyPrintsAnObjectOfJSONForEachEvent() throws {
        let lines = try history("shop", "--json").output.split(separator: "\n")
        let event = try #require(try JSON.Value.parse(String(lines[1])).object)
        #expect(event["state"]?.string == "maintenance" && event["gate"]?.string == "closed")
        #expect(event["author"]?.string == "alice (uid 1042)")
        #expect(event["cause"]?.string == "disk swap")
        #expect(event["days_left"]?.number?.int64 == 3)
        #expect(event["source"] == .null)
        #expect(event["message_id"]?.string == LogMessage.Kind.decided.row.messageID)
    }
}
