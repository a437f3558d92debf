import CivilTime
import Decision
import Support
import Testing

@Suite struct TimeTests {
    @Test func daysLeftChangeAtMidnightOfTheZoneAndTheEndComesTrueOnTime() throws {
        let end = #"{"service_end": "countdown", "service_countdown": "2027-03-03T08:00:00+0000"}"#
        var play = try Transcript([try service(zone: try zone("Asia/Tokyo"))]).answered(end)
        play.at(10_799, .woke)
        play.at(10_800, .woke)
        play.at(97_200, .woke)
        play.at(158_399, .woke)
        play.at(158_400, .woke)
        play.expect(
            #"""
            10799s woke
                fetch app
            10800s woke
                publish shop countdown open flags days=1 #2 until 2027-03-02T15:01:00+00:00
            97200s woke
                publish shop countdown open flags days=0 #2 until 2027-03-03T08:01:00+00:00
            158399s woke
            158400s woke
                remember and publish shop ended closed end-passed days=0 #3 until 2027-03-03T15:01:00+00:00
                log notice: shop: ended (was countdown): the end that source 'app' announced for 2027-03-03T17:00:00+09:00 has passed
            """#)
    }

    @Test func theEndMayBeKeptAsACountdownOfNoDays() throws {
        var play = try Transcript([try service(policy: Policy(atEnd: .keep))])
            .answered(#"{"service_end": "countdown", "service_countdown": "2027-03-01T12:00:10Z"}"#)
        play.at(10, .woke)
        play.expect(
            #"""
            10s woke
                publish shop countdown open end-passed days=0 #2 until 2027-03-02T00:01:00+00:00
                log notice: shop: countdown, 0 days left: the end that source 'app' announced for 2027-03-01T12:00:10+00:00 has passed
            """#)
    }

    @Test func anEndThatComesWithoutTheNetworkComesTrueAfterARestart() throws {
        let memory = try Memory.stored(
            #"{"service_end": "countdown", "service_countdown": "2027-03-01T11:00:00Z"}"#,
            fetchedAt: "2027-02-01T10:00:00Z", state: .countdown, boot: "another-boot")
        let play = try Transcript([try service()], memory: memory).started()
        play.expect(
            #"""
            0s started
                remember and publish shop ended closed end-passed days=0 #8 until 2027-03-02T00:01:00+00:00
                log notice: shop: ended (was countdown): the end that source 'app' announced for 2027-03-01T11:00:00+00:00 has passed
                fetch app
            """#)
    }

    /// A board without a battery boots in 1970: an end that has come stays in force.
    @Test func aClockEarlierThanTheStoredFlagsIsNotBelieved() throws {
        var memory = try Memory.stored(
            #"{"service_end": "countdown", "service_countdown": "2027-03-01T11:00:00Z"}"#,
            fetchedAt: "2027-02-01T10:00:00Z", state: .ended, boot: "another-boot")
        memory.ledger.value?.entries["shop"]?.since = try Instant(rfc3339: "2027-03-01T11:00:00Z")
        var play = try Transcript([try service()], memory: memory, start: "1970-01-01T00:00:10Z")
        play.at(0, .started)
        play.stepClock(5, by: .seconds(1_803_900_000))
        play.expect(
            #"""
            0s started
                remember and publish shop ended closed end-passed days=0 #7 until 1970-01-02T00:01:00+00:00
                log notice: shop: ended: the end that source 'app' announced for 2027-03-01T11:00:00+00:00 has passed
                fetch app
            5s clock stepped
                publish shop ended closed end-passed days=0 #7 until 2027-03-02T00:01:00+00:00
            """#)
    }

    @Test func aStepOfTheClockOverTheEndIsAnEvent() throws {
        var play = try Transcript([try service()])
            .answered(#"{"service_end": "countdown", "service_countdown": "2027-03-05T12:00:00Z"}"#)
        play.stepClock(100, by: .seconds(86_400))
        play.stepClock(200, by: .seconds(86_400 * 7))
        play.stepClock(300, by: .seconds(-86_400 * 8))
        play.expect(
            #"""
            100s clock stepped
                publish shop countdown open flags days=3 #2 until 2027-03-03T00:01:00+00:00
                fetch app
            200s clock stepped
                remember and publish shop ended closed end-passed days=0 #3 until 2027-03-10T00:01:00+00:00
                log notice: shop: ended (was countdown): the end that source 'app' announced for 2027-03-05T12:00:00+00:00 has passed
            300s clock stepped
                remember and publish shop countdown open flags days=4 #4 until 2027-03-02T00:01:00+00:00
                log notice: shop: countdown (was ended), 4 days left: set by the flags of source 'app'
            """#)
    }
}

/// `valid_until` is always set, ahead, and not far: it tells readers that a daemon runs.
@Suite struct ValidityTests {
    /// Zones with unusual days, at the instants of those days.
    static let zones = [
        ("UTC", "2027-06-01T00:00:00Z"), ("Asia/Tokyo", "2026-12-31T15:00:00Z"),
        ("Europe/Berlin", "2027-10-30T22:00:00Z"), ("Europe/Berlin", "2027-03-27T23:00:00Z"),
        ("Africa/Cairo", "2027-04-29T21:59:59Z"), ("Pacific/Apia", "2011-12-30T09:59:59Z"),
        ("Antarctica/Casey", "2010-03-04T13:00:00Z"), ("Pacific/Kwajalein", "1993-08-21T11:59:00Z"),
        ("America/St_Johns", "2006-10-29T02:30:30Z"),
        ("Australia/Lord_Howe", "2027-04-03T13:00:00Z"),
        ("Pacific/Kiritimati", "2027-01-01T00:00:00Z"),
        ("America/Scoresbysund", "2027-03-28T00:30:00Z"),
    ]

    /// Bodies that lead to every state but `undecided`, which comes before the first of them.
    static let bodies = [
        #"{"service_end": "no"}"#, #"{"service_end": "over"}"#,
        #"{"service_end": "countdown", "service_countdown": "2099-01-01T00:00:00Z"}"#,
        #"{"service_end": "countdown", "service_countdown": "soon"}"#,
        #"{"service_end": "countdown", "service_countdown": "1980-01-01T00:00:00Z"}"#, "{}",
    ]

    @Test(arguments: zones) func validUntilIsAheadByAtMostTwentySixHours(
        _ name: String, _ start: String
    ) throws {
        for policy in [
            Policy(), Policy(maxStale: .seconds(90), whenStale: .closed),
            Policy(maxStale: .seconds(10 * 86_400), whenStale: .open),
        ] {
            for body in Self.bodies {
                var play = try Transcript(
                    [try service(policy: policy, zone: try zone(name))], start: start,
                    clockFloor: "1970-01-01T00:00:00Z")
                var effects = play.at(0, .started)
                effects += try play.at(0, "app", answers: body)
                for _ in 0..<40 { effects += play.atNextEdge() }
                try Self.check(effects)
            }
        }
    }

    private static func check(_ effects: [Effect]) throws {
        let records = effects.compactMap { effect in
            if case .publish(_, let record) = effect { record } else { nil }
        }
        #expect(!records.isEmpty)
        for record in records {
            let ahead = record.validUntil - record.decidedAt
            #expect(ahead > .seconds(60) && ahead <= .seconds(26 * 3600))
        }
        // It is renewed before it is over.
        for (before, after) in zip(records, records.dropFirst()) {
            #expect(after.decidedAt < before.validUntil)
        }
    }
}
