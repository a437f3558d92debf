import CivilTime
import Decision
import Glibc
import Support
import Testing

@Suite struct DaysLeftTests {
    /// Without days, the end has passed.
    typealias Case = (zone: String, now: String, end: String, days: Int?)

    @Test(
        arguments: [
            // 17:00 in Tokyo, as in the applications that share these flags.
            ("Asia/Tokyo", "2018-09-28T14:59:59Z", "2018-09-30T08:00:00+0000", 2),
            ("Asia/Tokyo", "2018-09-28T15:00:00Z", "2018-09-30T08:00:00+0000", 1),
            ("Asia/Tokyo", "2018-09-29T15:00:00Z", "2018-09-30T08:00:00+0000", 0),
            ("Asia/Tokyo", "2018-09-30T07:59:59Z", "2018-09-30T08:00:00+0000", 0),
            ("Asia/Tokyo", "2018-09-30T08:00:00Z", "2018-09-30T08:00:00+0000", nil),
            // The same instants seen from elsewhere.
            ("Pacific/Honolulu", "2018-09-28T15:00:00Z", "2018-09-30T08:00:00+0000", 1),
            ("UTC", "2018-09-28T15:00:00Z", "2018-09-30T08:00:00+0000", 2),
            // Year ends, leap days.
            ("UTC", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z", 1),
            ("Asia/Tokyo", "2026-12-31T14:59:59Z", "2027-01-01T00:00:00+0900", 1),
            ("UTC", "2028-02-28T12:00:00Z", "2028-03-01T12:00:00Z", 2),
            ("UTC", "2027-02-28T12:00:00Z", "2027-03-01T12:00:00Z", 1),
            ("UTC", "2099-12-31T12:00:00Z", "2100-03-01T12:00:00Z", 60),
            // Daylight saving: a day of 23 hours and one of 25.
            ("Europe/Berlin", "2027-03-27T23:30:00+01:00", "2027-03-28T23:30:00+02:00", 1),
            ("Europe/Berlin", "2027-03-28T00:30:00+01:00", "2027-03-28T03:30:00+02:00", 0),
            ("Europe/Berlin", "2027-10-30T23:59:00+02:00", "2027-11-01T00:00:00+01:00", 2),
            ("Europe/Berlin", "2027-10-31T00:00:00+02:00", "2027-11-01T00:00:00+01:00", 1),
            // A midnight that the zone skips, and a day that it skips.
            ("Africa/Cairo", "2027-04-29T23:59:59+02:00", "2027-04-30T01:00:00+03:00", 1),
            ("Pacific/Apia", "2011-12-29T23:59:59-10:00", "2011-12-31T12:00:00+14:00", 2),
        ] as [Case])
    func daysLeftAreCalendarDaysInTheZoneOfTheService(_ row: Case) throws {
        let end = try Zone.utc.instant(from: row.end)
        let now = Now(wall: try Instant(rfc3339: row.now), boot: Boottime(microseconds: 0))
        let shop = try service(zone: try zone(row.zone))
        var evidence = Evidence(source: "app", reading: Reading(claims: [.countdown(.at(end))]))
        evidence.isAnswered = true
        let verdict = shop.decide([evidence], in: Circumstances(time: now.wall, isSameBoot: true))
        #expect(verdict.daysLeft == row.days ?? 0)
        #expect(verdict.state == (row.days == nil ? .ended : .countdown))
    }
}

func zone(_ name: String) throws -> Zone {
    var bytes: [UInt8] = []
    let file = unsafe fopen("/usr/share/zoneinfo/\(name)", "rb")
    guard let file = unsafe file else { throw ZoneMissing(name: name) }
    defer { unsafe fclose(file) }
    while case let byte = unsafe getc(file), byte != EOF { bytes.append(UInt8(byte)) }
    return try Zone(name: name, tzif: bytes)
}

struct ZoneMissing: Error {
    let name: String
}
