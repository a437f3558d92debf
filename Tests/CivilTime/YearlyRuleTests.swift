import CivilTime
import Decision
import Testing

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
