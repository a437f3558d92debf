import CivilTime
import Testing

@Suite struct CivilDateTests {
    struct Known: Sendable, CustomTestStringConvertible {
        let name: String
        let days: Int
        var testDescription: String { name }
    }

    @Test(arguments: [
        Known(name: "1970-01-01", days: 0),
        Known(name: "1969-12-31", days: -1),
        Known(name: "2000-02-29", days: 11_016),
        Known(name: "2000-03-01", days: 11_017),
        Known(name: "2027-03-31", days: 20_908),
        Known(name: "1900-03-01", days: -25_508),
        Known(name: "0000-03-01", days: -719_468),
        Known(name: "-0001-12-31", days: -719_529),
        Known(name: "9999-12-31", days: 2_932_896),
        Known(name: "+10000-01-01", days: 2_932_897),
        Known(name: "+294247-01-10", days: 106_751_991),
    ])
    func daysAreCountedFromTheEpochAndBack(_ known: Known) {
        let date = CivilDate(daysSinceEpoch: known.days)
        #expect(date.description == known.name)
        #expect(date.daysSinceEpoch == known.days)
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
            if date != next || date.daysSinceEpoch != days {
                wrong.append(date.description)
            }
            previous = date
        }
        #expect(wrong.isEmpty)
    }

    @Test func daysAreCountedBackOverAWideRange() {
        var dice = Dice(state: 1)
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
