import CivilTime
import Decision
import Files
import Support
import Testing

@Suite struct ZoneConversionTests {
    static let berlin = "CET-1CEST,M3.5.0,M10.5.0/3"
    static let santiago = "<-04>4<-03>,M9.1.6/24,M4.1.6/24"

    @Test func clocksShowUTCAndTheOffset() throws {
        let zone = try Zone.following(Self.berlin)
        let (winter, summer) = try (
            Instant.at("2027-01-01T00:30:00.25Z"), Instant.at("2027-07-01T23:00:00Z")
        )
        #expect(zone.offset(at: winter).description == "+01:00")
        #expect(zone.offset(at: summer).description == "+02:00")
        #expect(zone.dateTime(at: winter).description == "2027-01-01T01:30:00")
        #expect(zone.dateTime(at: summer).description == "2027-07-02T01:00:00")
        #expect(zone.dateTime(at: Instant(microseconds: -1)).description == "1970-01-01T00:59:59")
    }

    /// A local time in a gap is read with the offset before the gap. Of two instants the earlier counts.
    @Test(arguments: [
        ("2027-03-28T01:59:59.999999", "2027-03-28T00:59:59.999999Z"),
        ("2027-03-28T02:00:00", "2027-03-28T01:00:00Z"),
        ("2027-03-28T02:30:00", "2027-03-28T01:30:00Z"),
        ("2027-03-28T03:00:00", "2027-03-28T01:00:00Z"),
        ("2027-10-31T01:59:59", "2027-10-30T23:59:59Z"),
        ("2027-10-31T02:00:00", "2027-10-31T00:00:00Z"),
        ("2027-10-31T02:59:59", "2027-10-31T00:59:59Z"),
        ("2027-10-31T03:00:00", "2027-10-31T02:00:00Z"),
        ("2027-12-31T23:59:59", "2027-12-31T22:59:59Z"),
    ])
    func aClockReadingIsOneInstant(clock: String, instant: String) throws {
        #expect(try Zone.following(Self.berlin).instant(from: clock) == .at(instant))
    }

    @Test func aDateThatAZoneSkippedBeginsWhereTheNextDoes() throws {
        let apia = try Zone.system("Pacific/Apia")
        #expect(try apia.instant(from: "2011-12-30") == .at("2011-12-30T10:00:00Z"))
        #expect(try apia.instant(from: "2011-12-31") == .at("2011-12-30T10:00:00Z"))
        #expect(try apia.instant(from: "2011-12-29") == .at("2011-12-29T10:00:00Z"))
    }

    @Test(arguments: [
        "UTC0", berlin, santiago, "<+14>-14", "EST5EDT,0/0,J365/25", "NZST-12NZDT,M9.5.0,M4.1.0/3",
    ])
    func everyInstantThatIsNotRepeatedIsFoundByItsClockReading(footer: String) throws {
        let zone = try Zone.following(footer)
        var dice = SeededRandom(seed: 7)
        for _ in 0..<2_000 {
            let instant = Instant(
                microseconds: .random(
                    in: -62_000_000_000_000_000...4_000_000_000_000_000, using: &dice))
            let found = zone.instant(of: zone.dateTime(at: instant))
            #expect(zone.dateTime(at: found) == zone.dateTime(at: instant))
            #expect(found <= instant)
        }
    }

    struct Midnight: Sendable, CustomTestStringConvertible {
        let name: String
        let zone: @Sendable () throws -> Zone
        let after: String
        let expected: String
        var testDescription: String { name }

        static func rule(_ name: String, _ footer: String, after: String, is expected: String)
            -> Midnight
        {
            Midnight(name: name, zone: { try .following(footer) }, after: after, expected: expected)
        }

        static func place(_ name: String, _ zone: String, after: String, is expected: String)
            -> Midnight
        {
            Midnight(name: name, zone: { try .system(zone) }, after: after, expected: expected)
        }
    }

    @Test(arguments: [
        Midnight.rule("UTC", "UTC0", after: "2027-03-31T12:00:00Z", is: "2027-04-01T00:00:00Z"),
        .rule("midnight itself", "UTC0", after: "2027-03-31T00:00:00Z", is: "2027-04-01T00:00:00Z"),
        .rule(
            "the last microsecond", "UTC0", after: "2027-03-31T23:59:59.999999Z",
            is: "2027-04-01T00:00:00Z"),
        .rule("before 1970", "UTC0", after: "1969-12-31T23:59:59.5Z", is: "1970-01-01T00:00:00Z"),
        .rule(
            "a day of 23 hours", berlin, after: "2027-03-27T23:00:00Z", is: "2027-03-28T22:00:00Z"),
        .rule(
            "a day of 25 hours", berlin, after: "2027-10-30T22:00:00Z", is: "2027-10-31T23:00:00Z"),
        .rule(
            "a midnight that does not exist", santiago, after: "2027-09-04T12:00:00Z",
            is: "2027-09-05T04:00:00Z"),
        .rule(
            "a 24:00 that is 23:00 again", santiago, after: "2027-04-03T12:00:00Z",
            is: "2027-04-04T04:00:00Z"),
        .place(
            "the first midnight of two", "America/St_Johns", after: "2010-11-06T12:00:00Z",
            is: "2010-11-07T02:30:00Z"),
        .place(
            "back to the day before", "America/St_Johns", after: "2010-11-07T02:30:30Z",
            is: "2010-11-07T02:31:00Z"),
        .place(
            "the second midnight of two", "America/St_Johns", after: "2010-11-07T02:31:00Z",
            is: "2010-11-07T03:30:00Z"),
        .place(
            "a day left out", "Pacific/Apia", after: "2011-12-29T12:00:00Z",
            is: "2011-12-30T10:00:00Z"),
        .place(
            "the day before that", "Pacific/Apia", after: "2011-12-29T09:59:59Z",
            is: "2011-12-29T10:00:00Z"),
    ])
    func theNextDayStartsWhenTheDateChanges(_ midnight: Midnight) throws {
        let zone = try midnight.zone()
        #expect(try zone.startOfNextDay(after: .at(midnight.after)) == .at(midnight.expected))
    }

    @Test func theLastInstantIsItsOwnNextDay() throws {
        let end = Instant(microseconds: .max)
        #expect(Zone.utc.startOfNextDay(after: end) == end)
        #expect(try Zone.following(Self.berlin).startOfNextDay(after: end) == end)
    }

    /// Days left are calendar days, not units of 24 hours.
    @Test(arguments: [
        (berlin, "2027-03-27T22:59:59Z", "2027-03-27T23:00:00Z", 1),
        (berlin, "2027-03-27T23:00:00Z", "2027-03-28T21:59:59Z", 0),
        (berlin, "2027-03-27T23:00:00Z", "2027-03-28T22:00:00Z", 1),
        (berlin, "2027-10-30T22:00:00Z", "2027-10-31T22:59:59Z", 0),
        (berlin, "2027-10-30T22:00:00Z", "2027-10-31T23:00:00Z", 1),
        (berlin, "2027-12-31T22:59:59Z", "2027-12-31T23:00:00Z", 1),
        (berlin, "2027-12-31T23:00:00Z", "2028-12-31T23:00:00Z", 366),
        (berlin, "2027-04-10T00:00:00Z", "2027-03-31T00:00:00Z", -10),
        ("JST-9", "2027-03-30T14:59:59Z", "2027-03-31T15:00:00Z", 2),
        ("JST-9", "2027-03-31T00:00:00Z", "2027-03-31T14:59:59Z", 0),
        ("UTC0", "1970-01-01T00:00:00Z", "1969-12-31T23:59:59.999999Z", -1),
    ])
    func daysLeftAreCountedOnTheCalendar(footer: String, from: String, to: String, days: Int) throws
    {
        #expect(try Zone.following(footer).calendarDays(from: .at(from), to: .at(to)) == days)
    }

    @Test func aDayThatWasLeftOutIsCountedByTheCalendar() throws {
        let apia = try Zone.system("Pacific/Apia")
        #expect(
            try apia.calendarDays(
                from: .at("2011-12-30T09:59:59Z"), to: .at("2011-12-30T10:00:00Z")) == 2)
    }

    @Test(arguments: [
        ("JST-9", "2027-03-30T23:00:00.999999Z", "2027-03-31T08:00:00+09:00"),
        ("UTC0", "2027-03-31T00:00:00Z", "2027-03-31T00:00:00+00:00"),
        ("<-0330>3:30", "2027-03-31T00:00:00Z", "2027-03-30T20:30:00-03:30"),
        ("UTC0", "1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59+00:00"),
        // Offsets that RFC 3339 cannot express.
        ("LMT0:44:30", "1970-01-01T12:00:00Z", "1970-01-01T12:00:00+00:00"),
        ("AAA-24", "2027-03-31T00:00:00Z", "2027-03-31T00:00:00+00:00"),
        ("AAA-23:59", "2027-03-31T00:00:00Z", "2027-03-31T23:59:00+23:59"),
        // Years that RFC 3339 cannot express.
        ("JST-9", "9999-12-31T15:00:00Z", "9999-12-31T15:00:00+00:00"),
        ("EST5", "0000-01-01T00:00:00Z", "0000-01-01T00:00:00+00:00"),
    ])
    func instantsAreWrittenAsInternetTime(footer: String, instant: String, text: String) throws {
        #expect(try Zone.following(footer).rfc3339(.at(instant)) == text)
        #expect(try Instant(rfc3339: text).seconds == Instant(rfc3339: instant).seconds)
    }

    @Test func instantsBeyondFourDigitYearsAreWrittenAsTheNearest() {
        #expect(Zone.utc.rfc3339(Instant(microseconds: .max)) == "9999-12-31T23:59:59+00:00")
        #expect(Zone.utc.rfc3339(Instant(microseconds: .min)) == "0000-01-01T00:00:00+00:00")
    }
}

/// The two forms that `zic` compiles: `fat` lists transitions up to 2037, `slim` uses the footer wherever it can.
@Suite struct SlimZoneTests {
    /// Not Asia/Gaza: the slim file of glibc 2.36's `zic` lacks its autumn changes from 2074 on.
    static let names = [
        "Africa/Casablanca", "Africa/Monrovia", "America/Nuuk", "America/Santiago",
        "America/St_Johns", "Asia/Beirut", "Asia/Tokyo", "Australia/Lord_Howe", "Europe/Berlin",
        "Europe/Dublin", "Pacific/Apia", "Pacific/Chatham",
    ]

    @Test(.timeLimit(.minutes(5))) func slimAndFatFilesAreTheSameZone() throws {
        let source = "\(systemZones)/tzdata.zi"
        let zic = try #require(
            try ["/usr/sbin/zic", "/usr/bin/zic"].first { try File.exists($0) },
            "zic is missing: install the package libc-bin (or tzdata-devel)")
        let folder = try TemporaryFolder()
        for form in ["slim", "fat"] {
            let run = try Program.run(zic, ["-b", form, "-d", folder(form), source])
            try #require(run.status == 0, "\(run.errors): is tzdata installed?")
        }
        for name in Self.names {
            let sizes = try ["slim", "fat"].map {
                try File.attributes(of: folder("\($0)/\(name)")).size
            }
            #expect(sizes[0] < sizes[1])
            let slim = try Zone.system(name, folder: folder("slim"))
            let fat = try Zone.system(name, folder: folder("fat"))
            expectSameAnswers(slim, fat)
        }
    }

    private func expectSameAnswers(_ slim: Zone, _ fat: Zone) {
        var dice = SeededRandom(seed: 42)
        var differences: [Instant] = []
        for _ in 0..<1_000 {
            // From 1902, before which a fat file repeats what it says for 1901, to 2400.
            let instant = Instant(
                seconds: .random(in: -2_145_916_800...13_569_465_600, using: &dice))
            let midnight = fat.startOfNextDay(after: instant)
            if slim.offset(at: instant) != fat.offset(at: instant)
                || slim.startOfNextDay(after: instant) != midnight
                || slim.calendarDays(from: instant, to: midnight)
                    != fat.calendarDays(from: instant, to: midnight)
            {
                differences.append(instant)
            }
        }
        #expect(differences.isEmpty, "\(slim.name)")
    }
}

/// Every zone of the system, compared with Python's zoneinfo, which reads the same files.
@Suite struct ZoneinfoAgreementTests {
    @Test(.timeLimit(.minutes(5))) func everyZoneAgreesWithPython() throws {
        let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        let table = try Program.run(
            "/usr/bin/python3", ["/\(folder)/Support/zoneinfo-table.py", systemZones])
        try #require(table.status == 0, "\(table.errors)")
        var comparison = Comparison()
        for line in table.output.split(separator: "\n") { try comparison.check(line: line) }
        #expect(comparison.zones > 300)
        #expect(comparison.rows == comparison.zones * 200)
        #expect(comparison.differences.isEmpty)
    }
}

/// Compares the zones with the table of zoneinfo-table.py line by line, and collects the differences.
private struct Comparison {
    private(set) var zones = 0
    private(set) var rows = 0
    private(set) var differences: [String] = []
    private var zone = Zone.utc

    mutating func check(line: Substring) throws {
        let words = line.split(separator: " ")
        if words.first == "zone", words.count == 2 {
            zone = try .system(String(words[1]))
            zones += 1
            return
        }
        let numbers = words.compactMap { Int64($0) }
        guard numbers.count == 5, words.count == 5 else {
            throw TestFailure("read the table of zones: a line is '\(line)'")
        }
        rows += 1
        let (instant, other) = (Instant(seconds: numbers[0]), Instant(seconds: numbers[3]))
        let ours = [
            Int64(zone.offset(at: instant).seconds),
            zone.startOfNextDay(after: instant).seconds,
            Int64(zone.calendarDays(from: instant, to: other)),
        ]
        if ours != [numbers[1], numbers[2], numbers[4]], differences.count < 20 {
            differences.append("\(zone.name): ours \(ours), Python's \(line)")
        }
    }
}
