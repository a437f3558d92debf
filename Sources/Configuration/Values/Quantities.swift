import CivilTime

/// The units of a whole number that is written with its unit, without a blank: `30s`, `512KiB`.
private struct Units {
    /// The largest first. A number is written in a unit from the count `from` on.
    let units: [(name: String, size: Int64, from: Int64)]

    /// Reads a whole number and a unit; nil for anything else. The largest number for one too large.
    func number(_ text: String) -> Int64? {
        let digits = text.utf8.prefix { $0.isDigit }
        let name = String(text.utf8.dropFirst(digits.count)) ?? ""
        guard !digits.isEmpty, let unit = units.first(where: { $0.name.hasSameBytes(as: name) })
        else { return nil }
        let count = Int64(Substring(digits)) ?? .max
        return Int64(clamping: Int128(count) * Int128(unit.size))
    }

    /// The shortest text that is read as this number.
    func text(_ number: Int64) -> String {
        let unit =
            units.first { number.isMultiple(of: $0.size) && number / $0.size >= $0.from }
            ?? units[units.count - 1]
        return "\(number / unit.size)\(unit.name)"
    }
}

extension Duration {
    /// In milliseconds. One minute is `60s`, one day `24h`, as people say it.
    private static let units = Units(units: [
        ("d", 86_400_000, 2), ("h", 3_600_000, 1), ("m", 60_000, 2), ("s", 1_000, 0), ("ms", 1, 0),
    ])

    /// Reads a whole number and a unit: `500ms`, `30s`, `5m`, `24h`, `7d`; nil for anything else.
    /// A duration too long for the machine becomes the longest.
    package init?(text: String) {
        guard let milliseconds = Self.units.number(text) else { return nil }
        self = .milliseconds(milliseconds)
    }

    /// The duration that a text in another form most likely means: `5min`, `5 m`, `1h30m`, `1.5h`. Nil if that
    /// is not clear; of a number alone it is not.
    package static func meant(by text: String) -> Duration? {
        var rest = text.lowercased()[...]
        var milliseconds = 0.0
        while !rest.isEmpty {
            rest = rest.drop { $0 == " " }
            let digits = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." }
            rest = rest.dropFirst(digits.count).drop { $0 == " " }
            let name = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(name.count)
            guard let count = Double(digits),
                let unit = spelledUnits.first(where: { $0.names.contains(String(name)) })
            else { return nil }
            milliseconds += count * unit.milliseconds
        }
        guard milliseconds > 0, milliseconds < 1e15 else { return nil }
        return .milliseconds(Int64(milliseconds))
    }

    /// What is wrong with a text that is no duration, and how to write it.
    package static func correction(of text: String) -> String {
        meant(by: text).map { "write '\($0.text)'" }
            ?? "write a number and a unit (ms, s, m, h, d), such as '30s'"
    }

    /// Names of units in lower case, as people write them.
    private static let spelledUnits: [(names: [String], milliseconds: Double)] = [
        (["ms", "msec", "millisecond", "milliseconds"], 1),
        (["s", "sec", "secs", "second", "seconds"], 1_000),
        (["m", "min", "mins", "minute", "minutes"], 60_000),
        (["h", "hr", "hrs", "hour", "hours"], 3_600_000),
        (["d", "day", "days"], 86_400_000), (["w", "week", "weeks"], 604_800_000),
    ]

    /// The shortest text that `init(text:)` reads as this duration. Less than a millisecond is lost.
    package var text: String { Self.units.text(microseconds / 1_000) }

    /// The duration in its largest unit, for tables: `45s`, `12m`, `3h`, `9d`.
    package var rough: String {
        switch wholeSeconds {
        case ..<120: "\(wholeSeconds)s"
        case ..<7200: "\(wholeSeconds / 60)m"
        case ..<172_800: "\(wholeSeconds / 3600)h"
        default: "\(wholeSeconds / 86_400)d"
        }
    }
}

/// A number of bytes, written as `1MiB`, `512KiB` or `100B`.
package enum ByteSize {
    private static let units = Units(units: [("MiB", 1 << 20, 1), ("KiB", 1 << 10, 1), ("B", 1, 0)])

    /// Nil if `text` is not a whole number with a unit. The largest number for one too large.
    package static func bytes(_ text: String) -> Int? { units.number(text).map { Int($0) } }

    /// The shortest text that `bytes` reads as this size.
    package static func text(_ bytes: Int) -> String { units.text(Int64(bytes)) }
}

extension ClosedRange {
    /// Refuses a value outside of the range. `text` writes the bounds; `alternative` follows them.
    fileprivate func check(
        _ value: Bound, _ noun: String, _ text: (Bound) -> String, or alternative: String = ""
    ) throws(ValueProblem) -> Bound {
        guard contains(value) else {
            let bounds = "\(text(lowerBound)) to \(text(upperBound))"
            throw .bad(noun, cause: "expected \(bounds)\(alternative)")
        }
        return value
    }
}

extension ValueType where Value == Int {
    /// A whole number in a range.
    static func count(in range: ClosedRange<Int>) -> Self {
        Self(expected: "a whole number") { value throws(ValueProblem) in
            guard case .integer(let number) = value else { throw .wrongType() }
            return try range.check(Int(number), "number", String.init)
        } write: {
            String($0)
        }
    }

    /// A size as an integer of bytes, or as text with a unit.
    static func byteSize(in range: ClosedRange<Int>) -> Self {
        Self(expected: "a number of bytes or a size such as \"512KiB\"") {
            value throws(ValueProblem) in
            let size: Int
            switch value {
            case .integer(let bytes): size = Int(bytes)
            case .string(let text):
                guard let bytes = ByteSize.bytes(text) else {
                    throw .bad(
                        "size", cause: "write a number and a unit (B, KiB, MiB), such as '512KiB'")
                }
                size = bytes
            case .float, .boolean, .date, .time, .dateTime, .array, .table: throw .wrongType()
            }
            return try range.check(size, "size", ByteSize.text)
        } write: {
            ByteSize.text($0).tomlText
        }
    }
}

extension ValueType where Value == Duration {
    /// A duration in a range, as text. `alternative` ends the hints of its errors.
    static func duration(in range: ClosedRange<Duration>, or alternative: String = "") -> Self {
        Self(expected: "a duration") { value throws(ValueProblem) in
            switch value {
            case .string(let text):
                guard let duration = Duration(text: text) else {
                    let correction = Duration.correction(of: text)
                    throw .bad("duration", cause: "\(correction)\(alternative)")
                }
                return try range.check(duration, "duration", \.text, or: alternative)
            case .integer(let number):
                // A bare number most likely means seconds.
                throw .wrongType(hint: "write \"\(number < 0 ? 30 : number)s\"")
            case .float, .boolean, .date, .time, .dateTime, .array, .table:
                throw .wrongType(hint: "write a number and a unit, such as \"30s\"")
            }
        } write: {
            $0.text.tomlText
        }
    }
}
