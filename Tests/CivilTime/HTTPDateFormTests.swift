import CivilTime
import Testing

/// Dates of HTTP headers, as they are written.
@Suite struct HTTPDateFormTests {
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
