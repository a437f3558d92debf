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

    private func text(
        _ state: State = .running, _ gate: Gate = .open, _ change: (inout Verdict) throws -> Void
    ) throws -> String {
        var verdict = try verdict(state, gate)
        try change(&verdict)
        return EnvironmentFile.text(of: try record(verdict), for: try service())
    }

    @Test(arguments: texts) func shReadsBackTheSameBytes(_ text: String) throws {
        let folder = try TemporaryFolder()
        let file = try self.text(.maintenance, .closed) {
            $0.texts.title = text
            $0.texts.message = text
        }
        try folder.write(file, to: "state.env")
        let script = #"set -eu; . "$1"; printf %s "$KILLSWITCH_TITLE" > "$2""#
        let result = try Program.run(
            "/bin/sh", ["-c", script, "sh", folder("state.env"), folder("out")])
        #expect(result.status == 0 && result.errors == "")
        #expect(try File.read(folder("out"), limit: 1 << 20) == Self.bytes(of: text))
    }

    @Test func valuesAreVariablesOfTheirOwn() throws {
        let text = try text {
            $0.variant = "v1"
            $0.values = JSON.Object([
                ("max-items", 10), ("banner", "a $HOME"), ("list", .array(["x", true])),
                ("none", .null),
            ])
        }
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
        let text = try text(.countdown) {
            $0.endsAt = try Instant(rfc3339: "2027-03-31T08:00:00Z")
            $0.daysLeft = 30
        }
        #expect(
            text == """
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
        var reported = try record(verdict(.countdown, .open))
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
        let text = try text { $0.values = ["long": value, "short": .array(["x"])] }
        #expect(
            text.hasSuffix(
                #"""
                KILLSWITCH_VALUE_LONG=""
                KILLSWITCH_VALUE_SHORT="[\"x\"]"

                """#))
    }

    @Test func aValueThatJustFitsIsWhole() throws {
        let value = String(repeating: "x", count: (32 << 10) - 2)
        let text = try text { $0.values = ["long": .string(value)] }
        #expect(text.hasSuffix("KILLSWITCH_VALUE_LONG=\"\(value)\"\n"))
    }

    @Test func aTextTooLongForAnEnvironmentIsCutBetweenCharacters() throws {
        let long = String(repeating: "\u{1F600}", count: 20_000)
        let file = try text(.maintenance, .closed) { $0.texts.message = long }
        #expect(file.utf8.count < 33 << 10)
        let line = try #require(
            file.split(separator: "\n").first { $0.hasPrefix("KILLSWITCH_MESSAGE=") })
        let message = line.dropFirst("KILLSWITCH_MESSAGE=\"".count).dropLast()
        #expect(message.utf8.count > 31 << 10 && message.allSatisfy { $0 == "\u{1F600}" })
    }
}

/// `state.env` as systemd's `EnvironmentFile=` reads it, on a booted systemd.
@Suite struct SystemdEnvironmentTests {
    @Test(.enabled(if: geteuid() == 0, "booting a systemd needs root"), .timeLimit(.minutes(5)))
    func systemdReadsBackTheSameBytes() throws {
        let folder = try TemporaryFolder()
        let texts = EnvironmentFileTests.texts
        var unit = "[Service]\nType=oneshot\n"
        for (index, text) in texts.enumerated() {
            var verdict = try verdict(.maintenance, .closed)
            verdict.texts.title = text
            verdict.texts.message = text
            let file = EnvironmentFile.text(of: try record(verdict), for: try service())
            try folder.write(
                file.replacing("KILLSWITCH_TITLE=", with: "TITLE_\(index)="), to: "\(index).env")
            unit += "EnvironmentFile=/test/\(index).env\n"
            unit += "ExecStart=/bin/sh -c 'printf %%s \"$TITLE_\(index)\" > /test/\(index).out'\n"
        }
        try folder.write(unit, to: "read.service")
        let result = try Program.run(
            "\(systemTests)/boot-once", [folder("read.service"), folder.path],
            environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
        #expect(result.status == 0, "\(result.errors)")
        for (index, text) in texts.enumerated() {
            #expect(
                try File.read(folder("\(index).out"), limit: 1 << 20)
                    == EnvironmentFileTests.bytes(of: text), "of \(text.debugDescription)")
        }
    }

    private var systemTests: String {
        #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" } + "/System"
    }
}
