extension DaylightRule {
    /// Reads a POSIX TZ string (POSIX.1-2017, XBD §8.3) with the extensions of RFC 9636 §3.3.1: the standard offset,
    /// and the rule for daylight saving; nil if the offset holds for good. Throws for daylight saving without dates:
    /// POSIX leaves them to the implementation, and a guess would be wrong for some zones.
    static func read(
        footer: ArraySlice<UInt8>
    ) throws(TimeProblem) -> (standard: UTCOffset, rule: DaylightRule?) {
        var cursor = ByteCursor(footer)
        do throws(TimeProblem) {
            return try cursor.readRule()
        } catch {
            let text = String(decoding: footer, as: UTF8.self)
            throw TimeProblem("\(error.clause) of its footer '\(text.excerpt)'")
        }
    }
}

extension ByteCursor {
    fileprivate mutating func readRule() throws(TimeProblem) -> (UTCOffset, DaylightRule?) {
        try readName()
        let standard = try readOffset()
        if isAtEnd { return (standard, nil) }
        try readName()
        let hasOffset = !isAtEnd && next != UInt8(ascii: ",")
        let daylight = hasOffset ? try readOffset() : UTCOffset(seconds: standard.seconds + 3_600)
        try expect(",")
        let start = try readYearlyTime()
        try expect(",")
        let end = try readYearlyTime()
        guard isAtEnd else { throw .expected("the end", at: column) }
        return (
            standard, DaylightRule(standard: standard, daylight: daylight, start: start, end: end)
        )
    }

    /// A designation: letters, or between `<` and `>` letters, digits and signs; three or more.
    private mutating func readName() throws(TimeProblem) {
        let start = column
        let isQuoted = consume("<")
        let name = read { byte in
            byte.isLetter || isQuoted && (byte.isDigit || "+-".utf8.contains(byte))
        }
        guard name.count >= 3, !isQuoted || consume(">") else {
            throw .expected("a designation of three or more characters", at: start)
        }
    }

    /// `[+-]hh[:mm[:ss]]`, which POSIX counts west of Greenwich.
    private mutating func readOffset() throws(TimeProblem) -> UTCOffset {
        let start = column
        guard let west = readSignedTime(hourDigits: 1...2, hours: 0...24) else {
            throw .expected("an offset from -24 to 24 hours", at: start)
        }
        return UTCOffset(seconds: -west)
    }

    /// `Jn`, `n` or `Mm.w.d`, and optionally a slash and the time, which defaults to 02:00.
    private mutating func readYearlyTime() throws(TimeProblem) -> YearlyTime {
        let day = try readYearlyDay()
        guard consume("/") else { return YearlyTime(day: day, second: 7_200) }
        let start = column
        guard let second = readSignedTime(hourDigits: 1...3, hours: 0...167) else {
            throw .expected("a time from -167 to 167 hours", at: start)
        }
        return YearlyTime(day: day, second: second)
    }

    private mutating func readYearlyDay() throws(TimeProblem) -> YearlyTime.Day {
        if consume("J") { return .ordinalWithoutLeapDay(try readNumber(1...365, digits: 1...3)) }
        guard consume("M") else { return .ordinal(try readNumber(0...365, digits: 1...3)) }
        let month = try readNumber(1...12, digits: 1...2)
        try expect(".")
        let week = try readNumber(1...5, digits: 1...1)
        try expect(".")
        return .weekday(month: month, week: week, day: try readNumber(0...6, digits: 1...1))
    }

    /// A time in seconds; nil if it is malformed, with the cursor anywhere inside of it.
    private mutating func readSignedTime(
        hourDigits: ClosedRange<Int>, hours: ClosedRange<Int>
    ) -> Int? {
        let isNegative = consume("-")
        if !isNegative { _ = consume("+") }
        guard let hour = readNumber(digits: hourDigits), hours.contains(hour) else { return nil }
        var seconds = hour * 3_600
        for unit in [60, 1] where consume(":") {
            guard let value = readNumber(digits: 2...2), value < 60 else { return nil }
            seconds += value * unit
        }
        return isNegative ? -seconds : seconds
    }

    private mutating func readNumber(
        _ range: ClosedRange<Int>, digits: ClosedRange<Int>
    ) throws(TimeProblem) -> Int {
        let start = column
        guard let number = readNumber(digits: digits), range.contains(number) else {
            throw .expected("a number from \(range.lowerBound) to \(range.upperBound)", at: start)
        }
        return number
    }
}
