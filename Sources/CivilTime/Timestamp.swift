extension Zone {
    /// Reads RFC 3339 §5.6, the older `yyyy-MM-dd'T'HH:mm:ss±hhmm`, and, as times of this zone, a date with a time
    /// and no offset, and a date alone, which is the start of that day. A time may end with its minutes, as forms for
    /// dates write it.
    ///
    /// Spaces are not trimmed. Fractions are cut to microseconds. Second 60 begins the next minute. `-00:00` is UTC.
    package func instant(from text: String) throws(TimeError) -> Instant {
        let written = try WrittenTime(text)
        return written.instant ?? instant(of: written.clock) + written.fraction
    }

    /// The instants between which a text of the same forms lies: a single one, unless it has no offset and the offsets
    /// of this zone are unknown.
    package func instants(from text: String) throws(TimeError) -> ClosedRange<Instant> {
        let written = try WrittenTime(text)
        if let instant = written.instant { return instant...instant }
        guard !isKnown else {
            let instant = instant(of: written.clock) + written.fraction
            return instant...instant
        }
        let local = Instant(seconds: written.clock.secondsSinceEpoch) + written.fraction
        return local - .seconds(UTCOffset.range.upperBound)...local
            - .seconds(UTCOffset.range.lowerBound)
    }
}

extension TimePoint where Axis == WallClock {
    /// Reads RFC 3339 §5.6 and no other form; details as in `Zone.instant(from:)`.
    package init(rfc3339 text: String) throws(TimeError) {
        let written = try WrittenTime(text)
        guard let instant = written.instant, written.hasColon, written.hasSeconds else {
            throw TimeError(
                kind: "time", text: text,
                problem: !written.hasSeconds
                    ? .noSeconds : written.offset == nil ? .noOffset : .offsetWithoutColon)
        }
        self = instant
    }
}

/// A parsed date and time, with the offset from UTC if the text has one.
private struct WrittenTime {
    var clock: CivilDateTime
    var fraction = Duration.zero
    /// How many seconds the clock is ahead of UTC.
    var offset: Int64?
    /// Whether the offset was written `Z` or `+09:00`, not `+0900`.
    var hasColon = true
    /// Whether the time was written with its seconds.
    var hasSeconds = true

    /// The instant; nil without an offset.
    var instant: Instant? {
        offset.map { Instant(seconds: clock.secondsSinceEpoch - $0) + fraction }
    }
}

extension WrittenTime {
    init(_ text: String) throws(TimeError) {
        var cursor = ByteCursor(text.utf8)
        do throws(TimeProblem) {
            self = try cursor.readWrittenTime()
        } catch {
            throw TimeError(kind: "time", text: text, problem: error)
        }
    }
}

extension ByteCursor {
    fileprivate mutating func readWrittenTime() throws(TimeProblem) -> WrittenTime {
        let year = try readYear()
        try expect("-")
        let month = try readField("month", 1...12)
        try expect("-")
        let date = try CivilDate(written: year, month, try readDay())
        if isAtEnd { return WrittenTime(clock: CivilDateTime(date)) }
        let isT = consume("T")
        guard isT || consume("t") || consume(" ") else {
            throw .expected("'T' or a space", at: column)
        }
        let minutes = try readMinuteOfDay()
        let hasSeconds = consume(":")
        let seconds = minutes * 60 + (hasSeconds ? try readField("second", 0...60) : 0)
        var written = WrittenTime(clock: CivilDateTime(date, secondOfDay: seconds))
        written.hasSeconds = hasSeconds
        let microseconds = hasSeconds ? try readFraction() : nil
        written.fraction = .microseconds(microseconds ?? 0)
        if isAtEnd { return written }
        (written.offset, written.hasColon) = try readOffset()
        guard isAtEnd else { throw .expected("the end", at: column) }
        guard written.hasColon || (isT && microseconds == nil) else { throw .offsetWithoutColon }
        return written
    }

    mutating func readYear() throws(TimeProblem) -> Int {
        try readField("year", 0...9_999, digits: 4)
    }

    mutating func readDay(digits: Int = 2) throws(TimeProblem) -> Int {
        try readField("day", 1...31, digits: digits)
    }

    /// `hh:mm:ss` as seconds since midnight: up to 86,400, a leap second at the end of the day.
    mutating func readTimeOfDay() throws(TimeProblem) -> Int {
        let minutes = try readMinuteOfDay()
        try expect(":")
        return minutes * 60 + (try readField("second", 0...60))
    }

    /// `hh:mm` as minutes since midnight.
    private mutating func readMinuteOfDay() throws(TimeProblem) -> Int {
        let hour = try readField("hour", 0...23)
        try expect(":")
        return hour * 60 + (try readField("minute", 0...59))
    }

    /// The fraction of a second in whole microseconds; nil without one.
    private mutating func readFraction() throws(TimeProblem) -> Int? {
        guard consume(".") else { return nil }
        let start = column
        guard var microseconds = readNumber(digits: 1...6) else {
            throw .expected("a digit", at: column)
        }
        for _ in (column - start)..<6 { microseconds *= 10 }
        _ = read { $0.isDigit }
        return microseconds
    }

    private mutating func readOffset() throws(TimeProblem) -> (seconds: Int64, hasColon: Bool) {
        if consume("Z") || consume("z") { return (0, true) }
        let isWest = consume("-")
        guard isWest || consume("+") else {
            throw .expected("'Z' or an offset such as +09:00", at: column)
        }
        let hour = try readField("offset hour", 0...23)
        let hasColon = consume(":")
        let minute = try readField("offset minute", 0...59)
        let seconds = Int64(hour * 3_600 + minute * 60)
        return (isWest ? -seconds : seconds, hasColon)
    }

    /// Takes a number of exactly this many digits; throws if it is out of range (RFC 3339 §5.6).
    mutating func readField(
        _ name: String, _ range: ClosedRange<Int>, digits: Int = 2
    ) throws(TimeProblem) -> Int {
        guard let value = readNumber(digits: digits...digits) else {
            throw .expected("a \(digits)-digit \(name)", at: column)
        }
        guard range.contains(value) else {
            let bounds = "\(range.lowerBound) to \(range.upperBound)"
            throw TimeProblem("\(name) \(value) is not from \(bounds)")
        }
        return value
    }
}

extension CivilDate {
    /// The date of numbers that are each in range; throws if the month has no such day.
    init(written year: Int, _ month: Int, _ day: Int) throws(TimeProblem) {
        guard let date = CivilDate(year: year, month: month, day: day) else {
            let first = Self.daysSinceEpoch(year: year, month: month, day: 1)
            let clause = "\(CivilDate(daysSinceEpoch: first))".dropLast(3)
            throw TimeProblem("\(clause) has no day \(day)")
        }
        self = date
    }
}

extension TimeProblem {
    /// `+0900` is allowed only after 'T' and whole seconds.
    package static let offsetWithoutColon = TimeProblem(
        "an offset without a colon is read only right after 'T' and whole seconds")
    /// RFC 3339 has no time without seconds.
    package static let noSeconds = TimeProblem("it has no seconds, such as :00")
    /// An instant is required, and the text has no offset from UTC.
    package static let noOffset = TimeProblem("it has no offset from UTC, such as Z or +09:00")
}
