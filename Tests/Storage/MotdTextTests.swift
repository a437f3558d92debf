import CivilTime
import Decision
import Storage
import Support
import Testing

@Suite struct MotdTextTests {
    private func verdict(
        _ state: State, _ gate: Gate, ends: String? = nil, title: String? = nil
    ) throws -> Verdict {
        var verdict = Verdict(state: state, gate: gate, reason: .flags("app"))
        verdict.endsAt = try ends.map { try Instant(rfc3339: $0) }
        verdict.texts.title = title
        return verdict
    }

    private func update(_ motd: inout MotdText, _ name: String, _ record: PublishedVerdict?) throws
    {
        _ = motd.update(try named(name), record, in: .utc)
    }

    @Test func closedServicesComeFirstAndThenWhatComesNext() throws {
        var motd = MotdText()
        #expect(motd.text() == "")
        try update(&motd, "blog", try record(try verdict(.running, .open)))
        #expect(motd.text() == "")
        try update(
            &motd, "shop",
            try record(
                try verdict(.countdown, .open, ends: "2027-03-31T08:00:00Z", title: "Thanks")))
        var planned = try record(try verdict(.running, .open))
        let from = try Instant(rfc3339: "2027-03-05T08:00:00Z")
        var window = Window(from: from, until: from + .seconds(3600))
        window.texts.title = "Disks"
        planned.nextWindow = window
        try update(&motd, "blog", planned)
        try update(&motd, "wiki", try record(try verdict(.maintenance, .closed)))
        #expect(
            motd.text() == """
                Kill switches: 1 closed, 1 end announced, 1 window of maintenance ahead
                  wiki is closed (maintenance) since 2027-03-01T11:00:00+00:00
                  blog has maintenance from 2027-03-05T08:00:00+00:00 until 2027-03-05T09:00:00+00:00: Disks
                  shop ends at 2027-03-31T08:00:00+00:00: Thanks

                """)
        try update(&motd, "shop", nil)
        try update(&motd, "blog", try record(try verdict(.running, .open)))
        try update(&motd, "wiki", try record(try verdict(.running, .open)))
        #expect(motd.text() == "")
    }

    @Test func aServiceThatIsOnlyObservedIsNotCalledClosed() throws {
        var motd = MotdText()
        var verdict = try verdict(.maintenance, .closed)
        verdict.isEnforced = false
        try update(&motd, "shop", try record(verdict))
        #expect(
            motd.text() == """
                Kill switches: 1 would be closed
                  shop would be closed (maintenance) since 2027-03-01T11:00:00+00:00 ('enforce = false')

                """)
    }

    @Test func tenThousandServicesAreAFewLines() throws {
        var motd = MotdText()
        let closed = try record(try verdict(.ended, .closed))
        for number in 0..<10_000 { try update(&motd, "s\(number)", closed) }
        let lines = motd.text().split(separator: "\n")
        #expect(lines.count == 12)
        #expect(lines[0] == "Kill switches: 10000 closed")
        #expect(lines[11] == "  ... and 9990 more: type 'killswitchctl status'")
        // Those that are shown open again, and others take their places.
        let open = try record(try verdict(.running, .open))
        for line in lines[1...10] { try update(&motd, String(line.split(separator: " ")[0]), open) }
        #expect(motd.text().hasPrefix("Kill switches: 9990 closed\n"))
        #expect(motd.text().split(separator: "\n").count == 12)
    }

    @Test func aRecordWithoutNewsChangesNothing() throws {
        var motd = MotdText()
        var closed = try record(try verdict(.ended, .closed))
        let isNew = motd.update("shop", closed, in: .utc)
        closed.decidedAt = closed.decidedAt + .seconds(1)
        let isNewAgain = motd.update("shop", closed, in: .utc)
        #expect(isNew && !isNewAgain)
    }

    /// A title is anybody's text, and a terminal shows it.
    @Test(arguments: [
        ("a hundred kilobytes", String(repeating: "x", count: 100 << 10)),
        ("escape sequence", "\u{1B}[2J\u{9B}2J"), ("script", "<script>alert(1)</script>"),
        ("mustache", "{{title}}"), ("shell", "${HOME} $(id) `id`"),
        ("right-to-left override", "\u{202E}nehcor"), ("NUL", "a\0b"),
        ("lines", "one\ntwo\r\nthree\u{2028}four"),
        ("unpaired surrogate", String(decoding: [0xD800, 0x41] as [UInt16], as: UTF16.self)),
    ])
    func aTitleIsOneShortLineOfPrintableText(_ name: String, _ title: String) throws {
        var motd = MotdText()
        try update(&motd, "shop", try record(try verdict(.ended, .closed, title: title)))
        let text = motd.text()
        #expect(text.split(separator: "\n").count == 2 && text.utf8.count < 400)
        let isShown = text.unicodeScalars.allSatisfy {
            $0 == "\n" || $0.properties.generalCategory != .control
        }
        #expect(isShown && !text.unicodeScalars.contains("\u{202E}"))
    }
}
