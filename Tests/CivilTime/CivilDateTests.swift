import CivilTime
import Decision
import Testing

@Suite struct CivilDateTests {
    @Test(arguments: [
        ("1970-01-01", 0), ("1969-12-31", -1), ("2000-02-29", 11_016), ("2000-03-01", 11_017),
        ("2027-03-31", 20_908), ("1900-03-01", -25_508), ("0000-03-01", -719_468),
        ("-0001-12-31", -719_529), ("9999-12-31", 2_932_896), ("+10000-01-01", 2_932_897),
        ("+294247-01-10", 106_751_991),
    ])
    func daysAreCountedFromTheEpochAndBack(_ name: String, _ days: Int) {
        let date = CivilDate(daysSinceEpoch: days)
        #expect(date.description == name)
        #expect(date.daysSinceEpoch == days)
    }

    /// Day after day through two whole cycles of the calendar, around year 0 and around now.
    @Test(arguments: [-146_097 - 719_468, -10_000])
    func everyDayIsTheOneAfterTheDayBefore(start: Int) {
        var previous = CivilDate(daysSinceEpoch: start)
        var wrong: [String] = []
        for days in (start + 1)...(start + 146_097) {
            let date = CivilDate(daysSinceEpoch: days)
            let next =
                CivilDate(year: previous.year, month: previous.month, day: previous.day + 1)
                ?? CivilDate(year: previous.year, month: previous.month + 1, day: 1)
                ?? CivilDate(year: previous.year + 1, month: 1, day: 1)
            if date != next || date.daysSinceEpoch != days { wrong.append(date.description) }
            previous = date
        }
        #expect(wrong.isEmpty)
    }

    @Test func daysAreCountedBackOverAWideRange() {
        var dice = SeededRandom(seed: 1)
        for _ in 0..<10_000 {
            let days = Int.random(in: -106_751_992...106_751_991, using: &dice)
            #expect(CivilDate(daysSinceEpoch: days).daysSinceEpoch == days)
        }
    }

    @Test(arguments: [
        (2027, 0, 1), (2027, 13, 1), (2027, 1, 0), (2027, 1, 32), (2027, 4, 31), (2027, 2, 29),
        (1900, 2, 29), (1_000_000, 1, 1), (-1_000_000, 12, 31), (.max, 1, 1), (2027, .min, .max),
    ])
    func aDayThatTheCalendarDoesNotHaveIsNone(year: Int, month: Int, day: Int) {
        #expect(CivilDate(year: year, month: month, day: day) == nil)
    }

    @Test func aDayBeyondTheRangeIsClamped() {
        #expect(CivilDate(daysSinceEpoch: .max).description == "+999999-12-31")
        #expect(CivilDate(daysSinceEpoch: .min).description == "-999999-01-01")
    }

    @Test func leapDaysExistInLeapYearsOnly() {
        #expect(CivilDate(year: 2028, month: 2, day: 29) != nil)
        #expect(CivilDate(year: 2000, month: 2, day: 29) != nil)
        #expect(CivilDate(year: 0, month: 2, day: 29) != nil)
        #expect(CivilDate(year: 2100, month: 2, day: 29) == nil)
    }
}
