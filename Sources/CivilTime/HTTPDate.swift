extension TimePoint where Axis == WallClock {
    /// Reads the date of an HTTP header in any of the three forms of RFC 9110 §5.6.7.
    ///
    /// Names are case-sensitive, the zone is GMT, and the name of the day need not fit the date. A year
    /// with two digits is the latest such year that is not more than 50 years after `now`.
    package init(httpDate text: String, now: Instant) throws(TimeError) {
        var cursor = ByteCursor(text.utf8)
        do throws(TimeProblem) {
            self = try cursor.readHTTPDate(now: now)
        } catch {
            throw TimeError(kind: "time", text: text, problem: error)
        }
    }

    /// The date in the form IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`; years outside of 0000 to 9999 are clamped.
    package var httpDate: String {
        let clock = clockWithFourDigitYear
        let date = clock.date
        // 1970-01-01 was a Thursday.
        var text = dayNames.name((date.daysSinceEpoch + 4).remainder(flooredBy: 7))
        text += ", ".utf8
        text.append(date.day, 2)
        text += " ".utf8
        text += monthNames.name(date.month - 1)
        text += " ".utf8
        text.append(date.year, 4)
        text.append(" ", timeOfDay: clock.secondOfDay)
        return String(decoding: text, as: UTF8.self) + " GMT"
    }
}

private let dayNames: StaticString = "SunMonTueWedThuFriSat"
private let monthNames: StaticString = "JanFebMarAprMayJunJulAugSepOctNovDec"
private let dayNameEndings = ["day", "day", "sday", "nesday", "rsday", "day", "urday"]

extension StaticString {
    /// One of the names of three letters that stand here one after the other.
    fileprivate func name(_ number: Int) -> [UInt8] {
        withUTF8Buffer { unsafe Array($0[3 * number..<3 * number + 3]) }
    }
}

extension ByteCursor {
    fileprivate mutating func readHTTPDate(now: Instant) throws(TimeProblem) -> Instant {
        guard let weekday = consume(oneOf: dayNames) else {
            throw .expected("a day name such as Sun", at: column)
        }
        let clock =
            if consume(word: ", ") {
                try readDate()
            } else if consume(" ") {
                try readAsctimeDate()
            } else if consume(word: dayNameEndings[weekday] + ", ") {
                try readDate(now: now)
            } else {
                throw .expected("', ' or the rest of a day name", at: column)
            }
        guard isAtEnd else { throw .expected("the end", at: column) }
        return Instant(seconds: clock.secondsSinceEpoch)
    }

    /// IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT`; with `now` rfc850-date, `Sunday, 06-Nov-94 08:49:37 GMT`.
    private mutating func readDate(now: Instant? = nil) throws(TimeProblem) -> CivilDateTime {
        let separator: Unicode.Scalar = now == nil ? " " : "-"
        let day = try readDay()
        try expect(separator)
        let month = try readMonthName()
        try expect(separator)
        var year = now == nil ? try readYear() : try readField("year", 0...99)
        try expect(" ")
        let secondOfDay = try readTimeOfDay()
        guard consume(word: " GMT") else { throw .expected("' GMT'", at: column) }
        if let now {
            let today = CivilDateTime(secondsSinceEpoch: now.seconds)
            let latest = today.date.year + 50
            let limit = (latest, today.date.month, today.date.day, today.secondOfDay)
            year = latest - (latest - year).remainder(flooredBy: 100)
            if (year, month, day, secondOfDay) > limit { year -= 100 }
        }
        return CivilDateTime(try CivilDate(written: year, month, day), secondOfDay: secondOfDay)
    }

    /// asctime-date: `Sun Nov  6 08:49:37 1994`.
    private mutating func readAsctimeDate() throws(TimeProblem) -> CivilDateTime {
        let month = try readMonthName()
        try expect(" ")
        let day = try readDay(digits: consume(" ") ? 1 : 2)
        try expect(" ")
        let secondOfDay = try readTimeOfDay()
        try expect(" ")
        let year = try readYear()
        return CivilDateTime(try CivilDate(written: year, month, day), secondOfDay: secondOfDay)
    }

    private mutating func readMonthName() throws(TimeProblem) -> Int {
        guard let month = consume(oneOf: monthNames) else {
            throw .expected("a month name such as Nov", at: column)
        }
        return month + 1
    }
}
