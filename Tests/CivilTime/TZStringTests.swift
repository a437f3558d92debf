import CivilTime
import Decision
import Testing

@Suite struct TZStringTests {
    @Test(arguments: [
        ("UTC0", "2027-01-01T00:00:00Z", "+00:00"),
        ("JST-9", "2027-01-01T00:00:00Z", "+09:00"),
        ("<+0545>-5:45", "2027-01-01T00:00:00Z", "+05:45"),
        ("<-03>+3", "2027-01-01T00:00:00Z", "-03:00"),
        ("LMT0:44:30", "2027-01-01T00:00:00Z", "-00:44:30"),
        ("ABC24:59:59", "2027-01-01T00:00:00Z", "-24:59:59"),
        ("ABC-24:59:59", "2027-01-01T00:00:00Z", "+24:59:59"),
        // Mm.w.d, 02:00 by default, week 5 the last.
        ("EST5EDT,M3.2.0,M11.1.0", "2027-03-14T06:59:59Z", "-05:00"),
        ("EST5EDT,M3.2.0,M11.1.0", "2027-03-14T07:00:00Z", "-04:00"),
        ("EST5EDT,M3.2.0,M11.1.0", "2027-11-07T05:59:59Z", "-04:00"),
        ("EST5EDT,M3.2.0,M11.1.0", "2027-11-07T06:00:00Z", "-05:00"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2027-03-28T00:59:59Z", "+01:00"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2027-03-28T01:00:00Z", "+02:00"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2027-10-31T01:00:00Z", "+01:00"),
        // South of the equator daylight saving spans New Year. On Lord Howe Island it is half an hour.
        ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2027-12-31T23:59:59Z", "+11:00"),
        ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2027-04-03T14:59:59Z", "+11:00"),
        ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2027-04-03T15:00:00Z", "+10:30"),
        ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2027-10-02T15:30:00Z", "+11:00"),
        // Ireland has negative daylight saving in winter.
        ("IST-1GMT0,M10.5.0,M3.5.0/1", "2027-01-01T00:00:00Z", "+00:00"),
        ("IST-1GMT0,M10.5.0,M3.5.0/1", "2027-07-01T00:00:00Z", "+01:00"),
        // Times below 00:00 and beyond 24:00: Nuuk, Gaza.
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2027-03-28T00:59:59Z", "-02:00"),
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2027-03-28T01:00:00Z", "-01:00"),
        ("EET-2EEST,M3.4.4/50,M10.4.4/50", "2027-03-26T23:59:59Z", "+02:00"),
        ("EET-2EEST,M3.4.4/50,M10.4.4/50", "2027-03-27T00:00:00Z", "+03:00"),
        // Jn never counts 29 February, n does.
        ("AAA0BBB,J60/0,J300", "2028-02-29T23:59:59Z", "+00:00"),
        ("AAA0BBB,J60/0,J300", "2028-03-01T00:00:00Z", "+01:00"),
        ("AAA0BBB,J60/0,J300", "2027-03-01T00:00:00Z", "+01:00"),
        ("AAA0BBB,59/0,300", "2028-02-28T23:59:59Z", "+00:00"),
        ("AAA0BBB,59/0,300", "2028-02-29T00:00:00Z", "+01:00"),
        ("AAA0BBB,59/0,300", "2027-03-01T00:00:00Z", "+01:00"),
        // Dates that lie in the year before or after.
        ("AAA0BBB,J1/-167,J10", "2026-12-25T00:59:59Z", "+00:00"),
        ("AAA0BBB,J1/-167,J10", "2026-12-25T01:00:00Z", "+01:00"),
        ("AAA0BBB,J1/-167,J10", "2027-01-10T01:00:00Z", "+00:00"),
        ("AAA0BBB,J360,J365/167", "2027-01-06T21:59:59Z", "+01:00"),
        ("AAA0BBB,J360,J365/167", "2027-01-06T22:00:00Z", "+00:00"),
        ("AAA0BBB,365/0,30", "2027-12-31T23:59:59Z", "+00:00"),
        ("AAA0BBB,365/0,30", "2028-01-01T00:00:00Z", "+01:00"),
        ("AAA0BBB,365/0,30", "2028-12-30T23:59:59Z", "+00:00"),
        ("AAA0BBB,365/0,30", "2028-12-31T00:00:00Z", "+01:00"),
        // Daylight saving all year, in the two spellings of RFC 9636 §3.3.1, and a longer one.
        ("EST5EDT,0/0,J365/25", "2027-01-01T04:59:59Z", "-04:00"),
        ("EST5EDT,0/0,J365/25", "2027-01-01T05:00:00Z", "-04:00"),
        ("EST5EDT,0/0,J365/25", "2028-12-31T12:00:00Z", "-04:00"),
        ("XXX3EDT4,0/0,J365/23", "2027-01-01T03:00:00Z", "-04:00"),
        ("XXX3EDT4,0/0,J365/23", "2027-07-01T00:00:00Z", "-04:00"),
        ("EST5EDT,0/0,J365/30", "2027-01-01T09:59:59Z", "-04:00"),
        ("EST5EDT,0/0,J365/30", "2027-01-01T10:00:00Z", "-04:00"),
    ])
    func theFooterGivesTheOffsetOfEveryLaterYear(footer: String, instant: String, offset: String)
        throws
    {
        #expect(try Zone.following(footer).offset(at: .at(instant)).description == offset)
    }

    @Test(arguments: [
        ("5", "a designation of three or more characters expected at character 1"),
        ("AB5", "a designation of three or more characters expected at character 1"),
        ("<+3>-3", "a designation of three or more characters expected at character 1"),
        ("<+03-3", "a designation of three or more characters expected at character 1"),
        (":Europe/Berlin", "a designation of three or more characters expected at character 1"),
        ("EST", "an offset from -24 to 24 hours expected at character 4"),
        ("EST25", "an offset from -24 to 24 hours expected at character 4"),
        ("EST5:60", "an offset from -24 to 24 hours expected at character 4"),
        ("EST5:0", "an offset from -24 to 24 hours expected at character 4"),
        ("EST5 ", "a designation of three or more characters expected at character 5"),
        ("EST5EDT", "',' expected at character 8"),
        ("EST5EDT4", "',' expected at character 9"),
        ("EST5EDT,", "a number from 0 to 365 expected at character 9"),
        ("EST5EDT,M3.2.0", "',' expected at character 15"),
        ("EST5EDT,M13.2.0,M11.1.0", "a number from 1 to 12 expected at character 10"),
        ("EST5EDT,M3.6.0,M11.1.0", "a number from 1 to 5 expected at character 12"),
        ("EST5EDT,M3.2.7,M11.1.0", "a number from 0 to 6 expected at character 14"),
        ("EST5EDT,J0,J365", "a number from 1 to 365 expected at character 10"),
        ("EST5EDT,J366,J365", "a number from 1 to 365 expected at character 10"),
        ("EST5EDT,366,1", "a number from 0 to 365 expected at character 9"),
        ("EST5EDT,M3.2.0/168,M11.1.0", "a time from -167 to 167 hours expected at character 16"),
        ("EST5EDT,M3.2.0/-168,M11.1.0", "a time from -167 to 167 hours expected at character 16"),
        ("EST5EDT,M3.2.0/,M11.1.0", "a time from -167 to 167 hours expected at character 16"),
        ("EST5EDT,M3.2.0,M11.1.0,", "the end expected at character 23"),
        ("EST5EDT,M3.2.0,M11.1.0/2:00:00x", "the end expected at character 31"),
        ("\u{c9}ST5", "a designation of three or more characters expected at character 1"),
    ])
    func anotherFooterIsRefused(footer: String, clause: String) throws {
        let error = #expect(throws: TimeError.self) { try Zone.following(footer) }
        let description = try #require(error).description
        #expect(description.contains(": \(clause) of its footer '"))
    }
}

/// Random rules over the whole grammar, against a list of all their changes in many years.
@Suite struct YearlyRuleTests {
    /// `standard` and `daylight` are seconds east; a day is `n` of the TZ string, from 0 to 365.
    private struct Rule: CustomStringConvertible {
        let standard, daylight: Int
        let start, end: (day: Int, second: Int)

        init(using dice: inout SeededRandom) {
            standard = .random(in: -86_400...86_400, using: &dice)
            daylight = .random(in: -86_400...86_400, using: &dice)
            start = Self.date(using: &dice)
            end = Self.date(using: &dice)
        }

        /// Half of the dates are near New Year, where mistakes are most likely.
        private static func date(using dice: inout SeededRandom) -> (day: Int, second: Int) {
            let reach = 167 * 3_600
            let edge = Int.random(in: 0...20, using: &dice)
            let day: Int =
                switch Int.random(in: 0..<4, using: &dice) {
                case 0: edge
                case 1: 365 - edge
                default: .random(in: 0...365, using: &dice)
                }
            return (day, .random(in: -reach...reach, using: &dice))
        }

        var description: String {
            "STD\(time(-standard))DST\(time(-daylight)),"
                + "\(start.day)/\(time(start.second)),\(end.day)/\(time(end.second))"
        }

        private func time(_ second: Int) -> String {
            let fields = [second.magnitude / 60 % 60, second.magnitude % 60]
            let rest = fields.map { $0 < 10 ? ":0\($0)" : ":\($0)" }.joined()
            return "\(second < 0 ? "-" : "")\(second.magnitude / 3_600)\(rest)"
        }

        /// The spans of daylight saving that begin in these years.
        func spans(_ years: ClosedRange<Int>) -> [Range<Int>] {
            years.compactMap { year in
                let begin = second(start, year, standard)
                return (year...(year + 2)).map { second(end, $0, daylight) }
                    .first { $0 > begin }.map { begin..<$0 }
            }
        }

        private func second(_ date: (day: Int, second: Int), _ year: Int, _ offset: Int) -> Int {
            let newYear = CivilDate(year: year, month: 1, day: 1)?.daysSinceEpoch ?? 0
            return (newYear + date.day) * 86_400 + date.second - offset
        }
    }

    @Test func aRuleHoldsInEveryYear() throws {
        var dice = SeededRandom(seed: 3)
        for _ in 0..<1_000 {
            let rule = Rule(using: &dice)
            let zone = try Zone.following(rule.description)
            let spans = rule.spans(2015...2035)
            let edges = spans.flatMap { [$0.lowerBound, $0.upperBound] }
                .filter { (1_500_000_000...1_900_000_000).contains($0) }
            let instants =
                edges.flatMap { [$0 - 1, $0] }
                + (0..<50).map { _ in Int.random(in: 1_500_000_000...1_900_000_000, using: &dice) }
            let wrong = instants.filter { second in
                let isDaylight = spans.contains { $0.contains(second) }
                return zone.offset(at: Instant(seconds: Int64(second))).seconds
                    != (isDaylight ? rule.daylight : rule.standard)
            }
            #expect(wrong.isEmpty, "\(rule)")
        }
    }
}
