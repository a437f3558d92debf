import CivilTime
import Decision
import Testing

/// Ends, midnights and the clock.
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
                log notice: shop: ended (was countdown): the end that source 'app' announced has passed
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
                log notice: shop: countdown, 0 days left: the end that source 'app' announced has passed
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
                log notice: shop: ended (was countdown): the end that source 'app' announced has passed
                fetch app
            """#)
    }

    /// A board without a battery boots in 1970: an end that has come stays in force.
    @Test func aClockEarlierThanTheStoredFlagsIsNotBelieved() throws {
        var memory = try Memory.stored(
            #"{"service_end": "countdown", "service_countdown": "2027-03-01T11:00:00Z"}"#,
            fetchedAt: "2027-02-01T10:00:00Z", state: .ended, boot: "another-boot")
        memory.ledger.entries[try named("shop")]?.since = try Instant(
            rfc3339: "2027-03-01T11:00:00Z")
        var play = try Transcript([try service()], memory: memory, start: "1970-01-01T00:00:10Z")
        play.at(0, .started)
        play.stepClock(5, by: .seconds(1_803_900_000))
        play.expect(
            #"""
            0s started
                remember and publish shop ended closed end-passed days=0 #7 until 1970-01-02T00:01:00+00:00
                log notice: shop: ended: the end that source 'app' announced has passed
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
                log notice: shop: ended (was countdown): the end that source 'app' announced has passed
            300s clock stepped
                remember and publish shop countdown open flags days=4 #4 until 2027-03-02T00:01:00+00:00
                log notice: shop: countdown (was ended), 4 days left: set by the flags of source 'app'
            """#)
    }
}
