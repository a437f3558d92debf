import CivilTime
import Testing

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
