import CivilTime
import Decision
import Files
import Glibc
import JSON
import Storage
import Support
import Testing

/// `state.env` as its readers see it: here sh; systemd in `SystemdEnvironmentTests`.
@Suite struct EnvironmentFileTests {
    /// Texts that would break out of careless quoting.
    static let texts = [
        "plain", "", "it's \"quoted\"", "two\nlines\n", "$HOME $(id) `id` ${PATH}", "back\\slash\\",
        "\\n \\\" \\$", "nul\0gone", "emoji \u{1F600} \u{65E5}\u{672C}", "tab\tand\r", "'; id; '",
        "ends in a backslash \\", "\"", "$", "`", "#no comment", " spaces  kept ", "a=b",
        "no\(noncharacters)character",
    ]

    /// U+FFFF, U+FDD0 and U+1FFFE, which JSON may hold and Swift has no literal for.
    static let noncharacters = String(
        decoding: [0xFFFF, 0xFDD0, 0xD83F, 0xDFFE] as [UInt16], as: UTF16.self)

    /// What readers get: the text without the characters that sh or systemd cannot hold.
    static func bytes(of text: String) -> [UInt8] {
        let dropped = Set(noncharacters.unicodeScalars).union(["\0"])
        let kept = text.unicodeScalars.filter { !dropped.contains($0) }
        return Array(String(String.UnicodeScalarView(kept)).utf8)
    }

    @Test(arguments: texts) func shReadsBackTheSameBytes(_ text: String) throws {
        let folder = try TemporaryFolder()
        var verdict = Verdict(
            state: .maintenance, gate: .closed, reason: .flags(try named("app")))
        verdict.texts.title = text
        verdict.texts.message = text
        let file = EnvironmentFile.text(of: try record(verdict), for: try service())
        try folder.write(file, to: "state.env")
        let script = #"set -eu; . "$1"; printf %s "$KILLSWITCH_TITLE" > "$2""#
        let result = try Program.run(
            "/bin/sh", ["-c", script, "sh", folder("state.env"), folder("out")])
        #expect(result.status == 0 && result.errors == "")
        #expect(try File.read(folder("out"), limit: 1 << 20) == Self.bytes(of: text))
    }

    @Test func valuesAreVariablesOfTheirOwn() throws {
        var verdict = Verdict(
            state: .running, gate: .open, reason: .flags(try named("app")))
        verdict.variant = "v1"
        verdict.values = JSON.Object([
            ("max-items", 10), ("banner", "a $HOME"), ("list", .array(["x", true])),
            ("none", .null),
        ])
        let text = EnvironmentFile.text(of: try record(verdict), for: try service())
        #expect(
            text.hasSuffix(
                #"""
                KILLSWITCH_VARIANT="v1"
                KILLSWITCH_NOTICE=""
                KILLSWITCH_NOTICE_KIND=""
                KILLSWITCH_NOTICE_AT=""
                KILLSWITCH_NOTICE_BEFORE=""
                KILLSWITCH_VALUE_MAX_ITEMS="10"
                KILLSWITCH_VALUE_BANNER="a \$HOME"
                KILLSWITCH_VALUE_LIST="[\"x\",true]"
                KILLSWITCH_VALUE_NONE=""

                """#))
    }

    @Test func everyVariableIsThere() throws {
        var verdict = Verdict(
            state: .countdown, gate: .open, reason: .flags(try named("app")))
        verdict.endsAt = try Instant(rfc3339: "2027-03-31T08:00:00Z")
        verdict.daysLeft = 30
        #expect(
            EnvironmentFile.text(of: try record(verdict), for: try service()) == """
                KILLSWITCH_STATE="countdown"
                KILLSWITCH_GATE="open"
                KILLSWITCH_DAYS_LEFT="30"
                KILLSWITCH_ENDS_AT="2027-03-31T08:00:00+00:00"
                KILLSWITCH_REASON="flags"
                KILLSWITCH_TITLE=""
                KILLSWITCH_MESSAGE=""
                KILLSWITCH_AUTHOR=""
                KILLSWITCH_VARIANT=""
                KILLSWITCH_NOTICE=""
                KILLSWITCH_NOTICE_KIND=""
                KILLSWITCH_NOTICE_AT=""
                KILLSWITCH_NOTICE_BEFORE=""

                """)
    }

    @Test func whatWasToldLastIsThereLineByLine() throws {
        let end = Announcement(from: try Instant(rfc3339: "2027-03-31T08:00:00Z"))
        let window = Announcement(from: end.from, until: end.from + .seconds(3600))
        var reported = try record(
            Verdict(state: .countdown, gate: .open, reason: .flags(try named("app"))))
        reported.notices = [
            .soon(
                ZonedAnnouncement(end, in: .utc), lead: .seconds(604_800), left: .seconds(604_799),
                title: "$(id) `id`"),
            .cancelled(ZonedAnnouncement(window, in: .utc)),
        ]
        #expect(
            EnvironmentFile.text(of: reported, for: try service()).hasSuffix(
                #"""
                KILLSWITCH_NOTICE="shop: it ends in 7 days, at 2027-03-31T08:00:00+00:00: '\$(id) \`id\`'
                shop: the maintenance of 2027-03-31T08:00:00+00:00 is cancelled"
                KILLSWITCH_NOTICE_KIND="end"
                KILLSWITCH_NOTICE_AT="2027-03-31T08:00:00+00:00"
                KILLSWITCH_NOTICE_BEFORE="604800"

                """#))
    }

    /// A JSON value that is cut is no JSON any more, and a number that is cut is another number.
    @Test(arguments: [
        ("a list", JSON.Value.array(Array(repeating: "x", count: 10_000))),
        ("a text", .string(String(repeating: "x", count: 33 << 10))),
        (
            "a text that its quoting makes too long",
            .string(String(repeating: "$", count: 17 << 10))
        ),
    ])
    func aValueTooLongForAnEnvironmentIsLeftEmpty(_ name: String, _ value: JSON.Value) throws {
        var verdict = Verdict(
            state: .running, gate: .open, reason: .flags(try named("app")))
        verdict.values = JSON.Object([("long", value), ("short", .array(["x"]))])
        let text = EnvironmentFile.text(of: try record(verdict), for: try service())
        #expect(
            text.hasSuffix(
                #"""
                KILLSWITCH_VALUE_LONG=""
                KILLSWITCH_VALUE_SHORT="[\"x\"]"

                """#))
    }

    @Test func aValueThatJustFitsIsWhole() throws {
        let value = String(repeating: "x", count: (32 << 10) - 2)
        var verdict = Verdict(
            state: .running, gate: .open, reason: .flags(try named("app")))
        verdict.values = JSON.Object([("long", .string(value))])
        let text = EnvironmentFile.text(of: try record(verdict), for: try service())
        #expect(text.hasSuffix("KILLSWITCH_VALUE_LONG=\"\(value)\"\n"))
    }

    @Test func aTextTooLongForAnEnvironmentIsCutBetweenCharacters() throws {
        let long = String(repeating: "\u{1F600}", count: 20_000)
        var verdict = Verdict(
            state: .maintenance, gate: .closed, reason: .flags(try named("app")))
        verdict.texts.message = long
        let file = EnvironmentFile.text(of: try record(verdict), for: try service())
        #expect(file.utf8.count < 33 << 10)
        let line = try #require(
            file.split(separator: "\n").first { $0.hasPrefix("KILLSWITCH_MESSAGE=") })
        let message = line.dropFirst("KILLSWITCH_MESSAGE=\"".count).dropLast()
        #expect(message.utf8.count > 31 << 10 && message.allSatisfy { $0 == "\u{1F600}" })
    }
}
