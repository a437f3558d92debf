import CivilTime
import Decision
import JSON
import Support
import Testing

/// An end as a local time of a zone that is not known: it has come once it has in every zone, and what has come stays.
@Suite struct UnknownZoneTests {
    typealias Case = (now: String, hadEnded: Bool, state: State, reason: Reason.Slug)

    @Test(
        arguments: [
            ("2027-03-29T12:00:00Z", false, .countdown, .zoneUnknown),
            // Before the end in each zone: it was another end that had come.
            ("2027-03-29T12:00:00Z", true, .countdown, .zoneUnknown),
            ("2027-03-31T12:00:00Z", false, .countdown, .zoneUnknown),
            ("2027-03-31T12:00:00Z", true, .ended, .zoneUnknown),
            ("2027-04-01T01:00:00Z", false, .ended, .endPassed),
        ] as [Case])
    func anEndInAnUnknownZoneIsHeld(_ row: Case) throws {
        let flags = try #require(
            try JSON.Value.parse(
                #"{"service_end": "countdown", "service_countdown": "2027-03-31"}"#
            ).object)
        let shop = try service(zone: .unknown("US/Pacific"))
        let reading = try Format.serviceEnd.read(flags, in: shop.zone)
        var evidence = Evidence(source: "app", reading: reading)
        evidence.isAnswered = true
        var circumstances = Circumstances(
            time: try Instant(rfc3339: row.now), isSameBoot: true)
        circumstances.hasEnded = row.hadEnded
        let verdict = shop.decide([evidence], in: circumstances)
        #expect(verdict.state == row.state && verdict.reason.slug == row.reason)
        #expect(verdict.daysLeft == nil && verdict.endsAt == nil)
    }

    @Test func anEndWithAnOffsetNeedsNoZoneAndHasNoDays() throws {
        let flags = try #require(
            try JSON.Value.parse(
                #"{"service_end": "countdown", "service_countdown": "2027-03-31T00:00:00+09:00"}"#
            ).object)
        let shop = try service(zone: .unknown("US/Pacific"))
        var evidence = Evidence(
            source: "app", reading: try Format.serviceEnd.read(flags, in: shop.zone))
        evidence.isAnswered = true
        let decide = { [evidence] (time: String) in
            shop.decide(
                [evidence], in: Circumstances(time: try Instant(rfc3339: time), isSameBoot: true))
        }
        let before = try decide("2027-03-30T14:59:59Z")
        #expect(before.state == .countdown && before.daysLeft == nil && before.endsAt != nil)
        #expect(try decide("2027-03-30T15:00:00Z").state == .ended)
    }
}
