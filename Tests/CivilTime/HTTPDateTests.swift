import CivilTime
import Testing

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
