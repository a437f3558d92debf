import CivilTime
import Testing

@Suite struct TimestampTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0),
        ("2027-03-31T08:00:00+09:00", 1_806_447_600_000_000),
        ("2027-03-31t08:00:00z", 1_806_480_000_000_000),
        ("2027-03-31 08:00:00Z", 1_806_480_000_000_000),
        ("2027-03-31T08:00:00-00:00", 1_806_480_000_000_000),
        ("2027-03-31T08:00:00+00:00", 1_806_480_000_000_000),
        ("2027-03-31T08:00:00.5Z", 1_806_480_000_500_000),
        ("2027-03-31T08:00:00.123456Z", 1_806_480_000_123_456),
        ("2027-03-31T08:00:00.1234569999999999999999Z", 1_806_480_000_123_456),
        ("2027-03-31T08:00:00.000000-03:30", 1_806_492_600_000_000),
        ("1969-12-31T23:59:59.25Z", -750_000),
        ("1985-04-12T23:20:50.52Z", 482_196_050_520_000),
        ("1996-12-19T16:39:57-08:00", 851_042_397_000_000),
        ("1990-12-31T23:59:60Z", 662_688_000_000_000),
        ("1990-12-31T15:59:60-08:00", 662_688_000_000_000),
        ("2027-03-31T08:00:60.5Z", 1_806_480_060_500_000),
        ("1937-01-01T12:00:27.87+00:20", -1_041_337_172_130_000),
        ("2024-02-29T23:59:59+23:59", 1_709_164_859_000_000),
        ("0000-01-01T00:00:00Z", -62_167_219_200_000_000),
        ("9999-12-31T23:59:60-23:59", 253_402_387_140_000_000),
    ])
    func internetTimeIsAnInstant(_ text: String, _ microseconds: Int64) throws {
        let instant = Instant(microseconds: microseconds)
        #expect(try Zone.following("JST-9").instant(from: text) == instant)
        #expect(try Instant(rfc3339: text) == instant)
    }

    @Test(arguments: [
        ("2018-09-30T08:00:00+0000", 1_538_294_400_000_000),
        ("2018-09-30T08:00:00+0900", 1_538_262_000_000_000),
        ("2018-09-30T08:00:00-0330", 1_538_307_000_000_000),
        ("2018-09-30T08:00:00-0000", 1_538_294_400_000_000),
    ])
    func theOlderFormIsAnInstantButNotInternetTime(_ text: String, _ microseconds: Int64) throws {
        let instant = Instant(microseconds: microseconds)
        #expect(try Zone.following("JST-9").instant(from: text) == instant)
        let error = #expect(throws: TimeError.self) { try Instant(rfc3339: text) }
        #expect(error?.problem == .offsetWithoutColon)
    }

    @Test(arguments: [
        ("2027-03-31", "2027-03-31T00:00:00Z", "2027-03-30T15:00:00Z"),
        ("2027-03-31T08:00:00", "2027-03-31T08:00:00Z", "2027-03-30T23:00:00Z"),
        ("2027-03-31 08:00:00.25", "2027-03-31T08:00:00.25Z", "2027-03-30T23:00:00.25Z"),
        ("2027-12-31T23:59:60", "2028-01-01T00:00:00Z", "2027-12-31T15:00:00Z"),
    ])
    func aTimeWithoutOffsetIsLocalToAZone(text: String, inUTC: String, inTokyo: String) throws {
        #expect(try Zone.utc.instant(from: text) == .at(inUTC))
        #expect(try Zone.following("JST-9").instant(from: text) == .at(inTokyo))
        let error = #expect(throws: TimeError.self) { try Instant(rfc3339: text) }
        #expect(error?.problem == .noOffset)
    }

    /// Forms for dates in web pages write a time so.
    @Test(arguments: [
        ("2030-12-31T23:59", "2030-12-31T23:59:00Z", "2030-12-31T14:59:00Z"),
        ("2030-12-31 23:59", "2030-12-31T23:59:00Z", "2030-12-31T14:59:00Z"),
        ("2030-12-31T23:59Z", "2030-12-31T23:59:00Z", "2030-12-31T23:59:00Z"),
        ("2030-12-31T23:59+09:00", "2030-12-31T14:59:00Z", "2030-12-31T14:59:00Z"),
    ])
    func aTimeMayEndWithItsMinutes(text: String, inUTC: String, inTokyo: String) throws {
        #expect(try Zone.utc.instant(from: text) == .at(inUTC))
        #expect(try Zone.following("JST-9").instant(from: text) == .at(inTokyo))
        let error = #expect(throws: TimeError.self) { try Instant(rfc3339: text) }
        #expect(error?.problem == .noSeconds)
    }

    @Test(arguments: [
        ("", "a 4-digit year expected at character 1"),
        ("tomorrow", "a 4-digit year expected at character 1"),
        (" 2027-03-31", "a 4-digit year expected at character 1"),
        ("-2027-03-31", "a 4-digit year expected at character 1"),
        ("+12027-03-31", "a 4-digit year expected at character 1"),
        ("27-03-31", "a 4-digit year expected at character 1"),
        ("12027-03-31", "'-' expected at character 5"),
        ("20270331T080000Z", "'-' expected at character 5"),
        ("2027-3-31", "a 2-digit month expected at character 6"),
        ("2027-W13-3", "a 2-digit month expected at character 6"),
        ("2027-00-31", "month 0 is not from 1 to 12"),
        ("2027-13-31", "month 13 is not from 1 to 12"),
        ("2027-03", "'-' expected at character 8"),
        ("2027-03-3", "a 2-digit day expected at character 9"),
        ("2027-03-00", "day 0 is not from 1 to 31"),
        ("2027-03-32", "day 32 is not from 1 to 31"),
        ("2027-02-29", "2027-02 has no day 29"),
        ("2100-02-29T00:00:00Z", "2100-02 has no day 29"),
        ("2027-03-31Z", "'T' or a space expected at character 11"),
        ("2027-03-31\n", "'T' or a space expected at character 11"),
        ("2027-03-31_08:00:00Z", "'T' or a space expected at character 11"),
        ("2027-03-31  08:00:00Z", "a 2-digit hour expected at character 12"),
        ("2027-03-31T", "a 2-digit hour expected at character 12"),
        ("2027-03-31T24:00:00Z", "hour 24 is not from 0 to 23"),
        ("2027-03-31T08", "':' expected at character 14"),
        ("2027-03-31T08:60:00Z", "minute 60 is not from 0 to 59"),
        ("2027-03-31T08:00:", "a 2-digit second expected at character 18"),
        ("2027-03-31T08:00.5", "'Z' or an offset such as +09:00 expected at character 17"),
        ("2027-03-31T08:00:61Z", "second 61 is not from 0 to 60"),
        ("2027-03-31T08:00:00.Z", "a digit expected at character 21"),
        ("2027-03-31T08:00:00,5Z", "'Z' or an offset such as +09:00 expected at character 20"),
        ("2027-03-31T08:00:00 Z", "'Z' or an offset such as +09:00 expected at character 20"),
        ("2027-03-31T08:00:00 +09:00", "'Z' or an offset such as +09:00 expected at character 20"),
        ("2027-03-31T08:00:00UTC", "'Z' or an offset such as +09:00 expected at character 20"),
        ("2027-03-31T08:00:00Z ", "the end expected at character 21"),
        ("2027-03-31T08:00:00Z[Asia/Tokyo]", "the end expected at character 21"),
        ("2027-03-31T08:00:00+9:00", "a 2-digit offset hour expected at character 21"),
        ("2027-03-31T08:00:00+09", "a 2-digit offset minute expected at character 23"),
        ("2027-03-31T08:00:00+09:", "a 2-digit offset minute expected at character 24"),
        ("2027-03-31T08:00:00+24:00", "offset hour 24 is not from 0 to 23"),
        ("2027-03-31T08:00:00+09:60", "offset minute 60 is not from 0 to 59"),
        ("2027-03-31T08:00:00+09:00:00", "the end expected at character 26"),
        ("2018-09-30T08:00:00+2400", "offset hour 24 is not from 0 to 23"),
        (
            "2018-09-30 08:00:00+0000",
            "an offset without a colon is read only right after 'T' and whole seconds"
        ),
        (
            "2018-09-30T08:00:00.000+0000",
            "an offset without a colon is read only right after 'T' and whole seconds"
        ),
    ])
    func anythingElseIsRefusedInOneClause(_ text: String, _ clause: String) {
        let error = #expect(throws: TimeError.self) { try Zone.utc.instant(from: text) }
        let quoted = text == "2027-03-31\n" ? "2027-03-31\\n" : text
        #expect(error?.description == "read time '\(quoted)': \(clause)")
        #expect(error?.text == text)
    }

    /// Such digits look right on a screen, and Swift's `Character` calls them numbers.
    @Test(arguments: ["２０２７-03-31", "2027-0٣-31", "2027-03-31T08:00:00\u{301}Z"])
    func onlyASCIIDigitsCount(text: String) {
        #expect(throws: TimeError.self) { try Zone.utc.instant(from: text) }
    }

    @Test func theErrorQuotesLittleAndNothingThatCouldBreakALine() {
        let text = "'\r\n\u{202e}" + String(repeating: "x", count: 1_000)
        let error = #expect(throws: TimeError.self) { try Zone.utc.instant(from: text) }
        #expect(
            error?.description
                == #"read time '\'\r\n\u{202E}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...': "#
                + "a 4-digit year expected at character 1")
    }
}

@Suite struct TimePointTests {
    @Test func arithmeticSaturatesInsteadOfWrapping() {
        let end = Instant(microseconds: .max)
        let beginning = Instant(microseconds: .min)
        #expect(end + .seconds(1) == end)
        #expect(beginning - .seconds(1) == beginning)
        #expect(end - beginning == .microseconds(Int64.max))
        #expect(beginning - end == .microseconds(Int64.min))
        #expect(Instant(seconds: .max) == end)
        #expect(Instant(seconds: 0) + .seconds(Int64.max) == end)
    }

    @Test func addingTheDistanceGivesTheOtherPoint() {
        let (early, late) = (Boottime(microseconds: 1_500_000), Boottime(microseconds: 4_000_000))
        #expect(late - early == .milliseconds(2_500))
        #expect(early - late == .milliseconds(-2_500))
        #expect(early + (late - early) == late)
        #expect(early < late)
    }

    @Test func wholeSecondsAreRoundedDown() {
        #expect(Instant(microseconds: -1).seconds == -1)
        #expect(Instant(microseconds: 1_999_999).seconds == 1)
        #expect(Duration.milliseconds(-1).wholeSeconds == -1)
        #expect(Duration.nanoseconds(-1).wholeSeconds == -1)
        #expect(Duration.milliseconds(2_999).wholeSeconds == 2)
        #expect(Duration.seconds(Int64.max).wholeSeconds == .max)
    }

    @Test func microsecondsAreRoundedTowardsZeroAndClamped() {
        #expect(Duration.nanoseconds(-1_999).microseconds == -1)
        #expect(Duration.nanoseconds(1_999).microseconds == 1)
        #expect(Duration.seconds(Int64.min).microseconds == .min)
    }
}

@Suite struct HTTPDateTests {
    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"),
        ("Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z"),
        ("Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37Z"),
        ("Wed Nov 16 08:49:37 1994", "1994-11-16T08:49:37Z"),
        ("Wednesday, 31-Mar-27 23:59:60 GMT", "2027-04-01T00:00:00Z"),
        ("Thu, 29 Feb 2024 00:00:00 GMT", "2024-02-29T00:00:00Z"),
        // A wrong name of the day is accepted (RFC 9110 §5.6.7 asks for robust parsers).
        ("Mon, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"),
    ])
    func allThreeFormsAreRead(text: String, instant: String) throws {
        let now = try Instant.at("2027-03-31T00:00:00Z")
        #expect(try Instant(httpDate: text, now: now) == .at(instant))
    }

    /// More than 50 years ahead means the most recent year in the past with the same two digits.
    @Test(arguments: [
        ("2027-03-31T00:00:00Z", "Monday, 01-Jan-77 00:00:00 GMT", "2077-01-01T00:00:00Z"),
        ("2027-03-31T00:00:00Z", "Monday, 31-Mar-77 00:00:00 GMT", "2077-03-31T00:00:00Z"),
        ("2027-03-31T00:00:00Z", "Monday, 31-Mar-77 00:00:01 GMT", "1977-03-31T00:00:01Z"),
        ("2027-03-31T00:00:00Z", "Monday, 01-Apr-77 00:00:00 GMT", "1977-04-01T00:00:00Z"),
        ("2027-03-31T00:00:00Z", "Monday, 01-Jan-78 00:00:00 GMT", "1978-01-01T00:00:00Z"),
        ("2027-03-31T00:00:00Z", "Monday, 01-Jan-00 00:00:00 GMT", "2000-01-01T00:00:00Z"),
        ("2080-01-01T00:00:00Z", "Monday, 01-Jan-05 00:00:00 GMT", "2105-01-01T00:00:00Z"),
        ("2050-01-01T00:00:00Z", "Monday, 29-Feb-00 00:00:00 GMT", "2000-02-29T00:00:00Z"),
    ])
    func aYearOfTwoDigitsIsAtMostFiftyYearsAhead(
        now: String, text: String, instant: String
    ) throws {
        #expect(try Instant(httpDate: text, now: .at(now)) == .at(instant))
    }

    @Test(arguments: [
        ("", "a day name such as Sun expected at character 1"),
        ("120", "a day name such as Sun expected at character 1"),
        ("sun, 06 Nov 1994 08:49:37 GMT", "a day name such as Sun expected at character 1"),
        ("Sun,06 Nov 1994 08:49:37 GMT", "', ' or the rest of a day name expected at character 4"),
        ("Sunny, 06-Nov-94 08:49:37 GMT", "', ' or the rest of a day name expected at character 4"),
        ("Sun, 6 Nov 1994 08:49:37 GMT", "a 2-digit day expected at character 6"),
        ("Sun, 06 NOV 1994 08:49:37 GMT", "a month name such as Nov expected at character 9"),
        ("Sun, 31 Nov 1994 08:49:37 GMT", "1994-11 has no day 31"),
        ("Sun, 06 Nov 94 08:49:37 GMT", "a 4-digit year expected at character 13"),
        ("Sun, 06 Nov 1994 8:49:37 GMT", "a 2-digit hour expected at character 18"),
        ("Sun, 06 Nov 1994 08:49:37", "' GMT' expected at character 26"),
        ("Sun, 06 Nov 1994 08:49:37 UTC", "' GMT' expected at character 26"),
        ("Sun, 06 Nov 1994 08:49:37 GMT, x", "the end expected at character 30"),
        ("Sunday, 06-Nov-1994 08:49:37 GMT", "' ' expected at character 18"),
        ("Sun Nov 6 08:49:37 1994", "a 2-digit day expected at character 9"),
        ("Sun Nov  6 08:49:37 94", "a 4-digit year expected at character 21"),
        ("Sun Nov  6 08:49:37 1994 GMT", "the end expected at character 25"),
    ])
    func anythingElseIsRefused(text: String, clause: String) throws {
        let error = #expect(throws: TimeError.self) {
            try Instant(httpDate: text, now: Instant(seconds: 0))
        }
        #expect(error?.description == "read time '\(text)': \(clause)")
    }

    @Test(arguments: [
        ("1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT"),
        ("1969-12-31T23:59:59Z", "Wed, 31 Dec 1969 23:59:59 GMT"),
        ("2028-02-29T23:59:59.9+09:00", "Tue, 29 Feb 2028 14:59:59 GMT"),
        ("0000-01-01T00:00:00Z", "Sat, 01 Jan 0000 00:00:00 GMT"),
    ]) func anInstantIsAnHTTPDate(_ instant: String, _ expected: String) throws {
        let instant = try Instant(rfc3339: instant)
        #expect(instant.httpDate == expected)
        #expect(try Instant(httpDate: expected, now: instant).httpDate == expected)
    }

    @Test func aDateOutsideOfFourDigitsIsClamped() {
        #expect(Instant(microseconds: .max).httpDate == "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(Instant(microseconds: .min).httpDate == "Sat, 01 Jan 0000 00:00:00 GMT")
    }
}
