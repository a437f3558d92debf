import CivilTime
import Decision
import Testing

/// Days left: calendar days in the service's zone, daylight saving and year ends included.
@Suite struct DaysLeftTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let zone: String
        let now: String
        let end: String
        /// Nil: the end has passed.
        let days: Int?

        init(_ zone: String, _ now: String, _ end: String, _ days: Int?) {
            self.zone = zone
            self.now = now
            self.end = end
            self.days = days
        }

        var testDescription: String { "\(zone), \(now) to \(end)" }
    }

    @Test(arguments: [
        // 17:00 in Tokyo, as in the applications that share these flags.
        Case("Asia/Tokyo", "2018-09-28T14:59:59Z", "2018-09-30T08:00:00+0000", 2),
        Case("Asia/Tokyo", "2018-09-28T15:00:00Z", "2018-09-30T08:00:00+0000", 1),
        Case("Asia/Tokyo", "2018-09-29T15:00:00Z", "2018-09-30T08:00:00+0000", 0),
        Case("Asia/Tokyo", "2018-09-30T07:59:59Z", "2018-09-30T08:00:00+0000", 0),
        Case("Asia/Tokyo", "2018-09-30T08:00:00Z", "2018-09-30T08:00:00+0000", nil),
        // The same instants seen from elsewhere.
        Case("Pacific/Honolulu", "2018-09-28T15:00:00Z", "2018-09-30T08:00:00+0000", 1),
        Case("UTC", "2018-09-28T15:00:00Z", "2018-09-30T08:00:00+0000", 2),
        // Year ends, leap days.
        Case("UTC", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z", 1),
        Case("Asia/Tokyo", "2026-12-31T14:59:59Z", "2027-01-01T00:00:00+0900", 1),
        Case("UTC", "2028-02-28T12:00:00Z", "2028-03-01T12:00:00Z", 2),
        Case("UTC", "2027-02-28T12:00:00Z", "2027-03-01T12:00:00Z", 1),
        Case("UTC", "2099-12-31T12:00:00Z", "2100-03-01T12:00:00Z", 60),
        // Daylight saving: a day of 23 hours and one of 25.
        Case("Europe/Berlin", "2027-03-27T23:30:00+01:00", "2027-03-28T23:30:00+02:00", 1),
        Case("Europe/Berlin", "2027-03-28T00:30:00+01:00", "2027-03-28T03:30:00+02:00", 0),
        Case("Europe/Berlin", "2027-10-30T23:59:00+02:00", "2027-11-01T00:00:00+01:00", 2),
        Case("Europe/Berlin", "2027-10-31T00:00:00+02:00", "2027-11-01T00:00:00+01:00", 1),
        // A midnight that the zone skips, and a day that it skips.
        Case("Africa/Cairo", "2027-04-29T23:59:59+02:00", "2027-04-30T01:00:00+03:00", 1),
        Case("Pacific/Apia", "2011-12-29T23:59:59-10:00", "2011-12-31T12:00:00+14:00", 2),
    ])
    func daysLeftAreCalendarDaysInTheZoneOfTheService(_ row: Case) throws {
        let end = try Zone.utc.instant(from: row.end)
        let now = Now(wall: try Instant(rfc3339: row.now), boot: Boottime(microseconds: 0))
        let shop = try service(zone: try zone(row.zone))
        let app: SourceName = try named("app")
        var evidence = Evidence(source: app, reading: Reading(claims: [.countdown(.at(end))]))
        evidence.isAnswered = true
        let verdict = shop.decide(
            [evidence],
            in: Circumstances(time: now.wall, isSameBoot: true))
        #expect(verdict.daysLeft == row.days ?? 0)
        #expect(verdict.state == (row.days == nil ? .ended : .countdown))
    }
}
