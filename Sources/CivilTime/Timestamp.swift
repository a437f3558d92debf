/// A parsed time: an instant, or a local time whose zone the text does not say.
package enum Timestamp: Hashable, Sendable {
    /// The text has an offset from UTC.
    case instant(Instant)
    /// The text has no offset.
    case local(CivilDateTime)

    /// Reads RFC 3339 §5.6, the older `yyyy-MM-dd'T'HH:mm:ss±hhmm`, and, as local times, a date and
    /// time without an offset and a date alone, which is the start of that day.
    ///
    /// White space is not trimmed. A fraction of a second is cut to microseconds. Second 60 is the start
    /// of the next minute. `-00:00` is UTC.
    package static func parse(_ text: String) throws(TimestampError) -> Timestamp {
        let written = try WrittenTime(text)
        return written.instant.map(Timestamp.instant) ?? .local(written.clock)
    }

    /// The instant; a local time is read in this zone.
    package func instant(in zone: Zone) -> Instant {
        switch self {
        case .instant(let instant): instant
        case .local(let clock): zone.instant(of: clock)
        }
    }
}

extension TimePoint where Axis == WallClock {
    /// Reads RFC 3339 §5.6 and no other form; details as in `Timestamp.parse`.
    package init(rfc3339 text: String) throws(TimestampError) {
        let written = try WrittenTime(text)
        guard let instant = written.instant else {
            throw TimestampError(text: text, problem: .noOffset)
        }
        guard written.offset?.hasColon == true else {
            throw TimestampError(text: text, problem: .offsetWithoutColon)
        }
        self = instant
    }
}

/// A parsed date and time, with the offset from UTC if the text has one.
private struct WrittenTime {
    let clock: CivilDateTime
    let offset: Offset?

    /// An offset from UTC.
    struct Offset {
        /// How far the clock is ahead of UTC.
        let seconds: Int64
        /// Whether it was written `+09:00`, not `+0900`.
        let hasColon: Bool
    }

    /// The instant; nil without an offset.
    var instant: Instant? { offset.map { clock.asUTC - .seconds($0.seconds) } }
}

extension WrittenTime {
    init(_ text: String) throws(TimestampError) {
        var cursor = ByteCursor(text.utf8)
        do throws(TimeProblem) {
            self = try cursor.readWrittenTime()
        } catch {
            throw TimestampError(text: text, problem: error)
        }
    }
}

extension CivilDateTime {
    /// The instant at which a clock in UTC shows this time.
    var asUTC: Instant {
        Instant(seconds: secondsSinceEpoch) + .microseconds(microsecond)
    }
}

extension ByteCursor {
    fileprivate mutating func readWrittenTime() throws(TimeProblem) -> WrittenTime {
        let date = try readDate()
        if isAtEnd { return WrittenTime(clock: CivilDateTime(date), offset: nil) }
        let isT = consume("T")
        guard isT || consume("t") || consume(" ") else {
            throw .expected("'T' or a space", at: column)
        }
        let secondOfDay = try readTimeOfDay()
        let microsecond = try readFraction()
        let clock = CivilDateTime(date, secondOfDay: secondOfDay, microsecond: microsecond ?? 0)
        if isAtEnd { return WrittenTime(clock: clock, offset: nil) }
        let offset = try readOffset()
        guard isAtEnd else { throw .expected("the end", at: column) }
        guard offset.hasColon || (isT && microsecond == nil) else { throw .offsetWithoutColon }
        return WrittenTime(clock: clock, offset: offset)
    }

    private mutating func readDate() throws(TimeProblem) -> CivilDate {
        let year = try read(.year, digits: 4)
        try expect("-")
        let month = try read(.month)
        try expect("-")
        let day = try read(.day)
        return try CivilDate(written: year, month, day)
    }

    /// `hh:mm:ss` as seconds since midnight: up to 86,400, a leap second at the end of the day.
    mutating func readTimeOfDay() throws(TimeProblem) -> Int {
        let hour = try read(.hour)
        try expect(":")
        let minute = try read(.minute)
        try expect(":")
        let second = try read(.second)
        return hour * 3_600 + minute * 60 + second
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

    private mutating func readOffset() throws(TimeProblem) -> WrittenTime.Offset {
        if consume("Z") || consume("z") { return WrittenTime.Offset(seconds: 0, hasColon: true) }
        let isWest = consume("-")
        guard isWest || consume("+") else {
            throw .expected("'Z' or an offset such as +09:00", at: column)
        }
        let hour = try read(.offsetHour)
        let hasColon = consume(":")
        let minute = try read(.offsetMinute)
        let seconds = Int64(hour * 3_600 + minute * 60)
        return WrittenTime.Offset(seconds: isWest ? -seconds : seconds, hasColon: hasColon)
    }

    /// Takes a number of exactly this many digits; throws if it is out of the field's range.
    mutating func read(_ field: TimeField, digits: Int = 2) throws(TimeProblem) -> Int {
        guard let value = readNumber(digits: digits...digits) else {
            throw .expected("a \(digits)-digit \(field.rawValue)", at: column)
        }
        let range = field.range
        guard range.contains(value) else {
            let bounds = "\(range.lowerBound) to \(range.upperBound)"
            throw TimeProblem("\(field.rawValue) \(value) is not from \(bounds)")
        }
        return value
    }
}

extension CivilDate {
    /// The date of numbers that are each in range; throws if the month has no such day.
    init(written year: Int, _ month: Int, _ day: Int) throws(TimeProblem) {
        guard let date = CivilDate(year: year, month: month, day: day) else {
            throw TimeProblem("\(year.padded(to: 4))-\(month.padded(to: 2)) has no day \(day)")
        }
        self = date
    }
}

/// Why a text is not a valid time.
package struct TimestampError: Error, Hashable, CustomStringConvertible {
    /// The whole text.
    package let text: String
    /// The problem of the text.
    package let problem: TimeProblem

    /// `read time '2027-02-30': 2027-02 has no day 30`
    package var description: String {
        "read time '\(text.excerpt)': \(problem.clause)"
    }
}

extension TimeProblem {
    /// `+0900` is allowed only after 'T' and whole seconds.
    package static let offsetWithoutColon = TimeProblem(
        "an offset without a colon is read only right after 'T' and whole seconds")
    /// An instant is required, and the text has no offset from UTC.
    package static let noOffset = TimeProblem("it has no offset from UTC, such as Z or +09:00")
}

/// A number in a written time, and its range (RFC 3339 §5.6).
enum TimeField: String {
    case year, month, day, hour, minute, second
    case offsetHour = "offset hour"
    case offsetMinute = "offset minute"

    /// The values that the field can have, both ends included.
    var range: ClosedRange<Int> {
        switch self {
        case .year: 0...9_999
        case .month: 1...12
        case .day: 1...31
        case .hour, .offsetHour: 0...23
        case .minute, .offsetMinute: 0...59
        case .second: 0...60
        }
    }
}
