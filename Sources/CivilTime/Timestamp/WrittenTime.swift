/// What a written time says, before anybody asks which instant that is.
struct WrittenTime {
    let clock: CivilDateTime
    let offset: Offset?

    /// How far the clock is ahead of UTC, and in which of the two ways that was written.
    struct Offset {
        let seconds: Int64
        let hasColon: Bool
    }

    /// The instant, where the offset is known.
    var instant: Instant? {
        offset.map {
            CivilDateTime(
                secondsSinceEpoch: clock.secondsSinceEpoch - $0.seconds,
                microsecond: clock.microsecond
            ).asUTC
        }
    }

    init(_ text: String) throws(TimestampError) {
        var cursor = ASCIICursor(text.utf8)
        do throws(TimestampError.Flaw) {
            (clock, offset) = try cursor.takeWrittenTime()
        } catch {
            throw TimestampError(text: text, flaw: error)
        }
    }
}

extension CivilDateTime {
    /// The instant at which a clock in UTC shows this.
    var asUTC: Instant {
        Instant(seconds: secondsSinceEpoch) + .microseconds(microsecond)
    }
}

extension ASCIICursor {
    fileprivate mutating func takeWrittenTime() throws(TimestampError.Flaw)
        -> (CivilDateTime, WrittenTime.Offset?)
    {
        let date = try takeDate()
        if isAtEnd { return (CivilDateTime(startOf: date), nil) }
        let isT = take("T")
        guard isT || take("t") || take(" ") else {
            throw .expected("'T' or a space", at: column)
        }
        let secondOfDay = try takeTimeOfDay()
        let microsecond = try takeFraction()
        let clock = CivilDateTime(date, secondOfDay: secondOfDay, microsecond: microsecond ?? 0)
        if isAtEnd { return (clock, nil) }
        let offset = try takeOffset()
        guard isAtEnd else { throw .expected("the end", at: column) }
        guard offset.hasColon || (isT && microsecond == nil) else { throw .offsetWithoutColon }
        return (clock, offset)
    }

    private mutating func takeDate() throws(TimestampError.Flaw) -> CivilDate {
        let year = try take(.year, digits: 4)
        try expect("-")
        let month = try take(.month)
        try expect("-")
        let day = try take(.day)
        return try CivilDate(written: year, month, day)
    }

    /// `hh:mm:ss` as seconds since midnight: up to 86 400, which is the 60th second of the day.
    mutating func takeTimeOfDay() throws(TimestampError.Flaw) -> Int {
        let hour = try take(.hour)
        try expect(":")
        let minute = try take(.minute)
        try expect(":")
        let second = try take(.second)
        return hour * 3_600 + minute * 60 + second
    }

    /// The fraction of a second in whole microseconds; nil where none is written.
    private mutating func takeFraction() throws(TimestampError.Flaw) -> Int? {
        guard take(".") else { return nil }
        let start = column
        guard var microseconds = takeNumber(digits: 1...6) else {
            throw .expected("a digit", at: column)
        }
        for _ in (column - start)..<6 { microseconds *= 10 }
        _ = take { $0.isDigit }
        return microseconds
    }

    private mutating func takeOffset() throws(TimestampError.Flaw) -> WrittenTime.Offset {
        if take("Z") || take("z") { return WrittenTime.Offset(seconds: 0, hasColon: true) }
        let isWest = take("-")
        guard isWest || take("+") else {
            throw .expected("'Z' or an offset such as +09:00", at: column)
        }
        let hour = try take(.offsetHour)
        let hasColon = take(":")
        let minute = try take(.offsetMinute)
        let seconds = Int64(hour * 3_600 + minute * 60)
        return WrittenTime.Offset(seconds: isWest ? -seconds : seconds, hasColon: hasColon)
    }

    /// Takes a number of exactly so many digits whose value the field can have.
    mutating func take(_ field: TimeField, digits: Int = 2) throws(TimestampError.Flaw) -> Int {
        guard let value = takeNumber(digits: digits...digits) else {
            throw .expected("a \(digits)-digit \(field.rawValue)", at: column)
        }
        guard field.range.contains(value) else { throw .outOfRange(field, value: value) }
        return value
    }

    /// Takes this character, or says that it is missing.
    mutating func expect(_ character: Unicode.Scalar) throws(TimestampError.Flaw) {
        guard take(character) else { throw .expected("'\(character)'", at: column) }
    }
}

extension CivilDate {
    /// The date of numbers that were each in range, or the flaw that the month has no such day.
    init(written year: Int, _ month: Int, _ day: Int) throws(TimestampError.Flaw) {
        guard let date = CivilDate(year: year, month: month, day: day) else {
            throw .noSuchDay(year: year, month: month, day: day)
        }
        self = date
    }
}

extension CivilDateTime {
    /// Midnight, as the clock shows it, at the beginning of this day.
    init(startOf date: CivilDate) {
        self.init(date, secondOfDay: 0)
    }

    /// So many seconds after that; the 86 400th is the next day.
    init(_ date: CivilDate, secondOfDay: Int, microsecond: Int = 0) {
        self.init(
            secondsSinceEpoch: Int64(date.daysSinceEpoch) * 86_400 + Int64(secondOfDay),
            microsecond: microsecond)
    }
}
