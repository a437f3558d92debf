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
        ("2027-03-31T08:00", "':' expected at character 17"),
        ("2027-03-31T08:00Z", "':' expected at character 17"),
        ("2027-03-31T08:00:61Z", "second 61 is not from 0 to 60"),
        ("2027-03-31T08:00:00.Z", "a digit expected at character 21"),
        (
            "2027-03-31T08:00:00,5Z", "'Z' or an offset such as +09:00 expected at character 20"
        ),
        (
            "2027-03-31T08:00:00 Z", "'Z' or an offset such as +09:00 expected at character 20"
        ),
        (
            "2027-03-31T08:00:00 +09:00",
            "'Z' or an offset such as +09:00 expected at character 20"
        ),
        (
            "2027-03-31T08:00:00UTC", "'Z' or an offset such as +09:00 expected at character 20"
        ),
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
