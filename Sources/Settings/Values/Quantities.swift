import CivilTime

/// A whole number and its unit, written without a blank: `30s`, `512KiB`.
struct Quantity {
    /// Saturated: a number too large for the machine is the largest.
    let number: Int64
    /// The text after the digits; may be empty.
    let unit: String

    /// Nil if `text` does not begin with a digit.
    init?(_ text: String) {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !digits.isEmpty else { return nil }
        number = Int64(Substring(digits)) ?? .max
        unit = String(text.utf8.dropFirst(digits.count)) ?? ""
    }

    /// The number times the size of its unit, saturated.
    func times(_ size: Int64) -> Int64 {
        let (product, overflow) = number.multipliedReportingOverflow(by: size)
        return overflow ? .max : product
    }
}

extension Duration {
    /// The units in milliseconds, the largest first. A duration is written in a unit from the count
    /// `from` on: one minute is `60s`, one day `24h`, as people say it.
    private static var units: [(unit: String, milliseconds: Int64, from: Int64)] {
        [
            ("d", 86_400_000, 2), ("h", 3_600_000, 1), ("m", 60_000, 2), ("s", 1_000, 0),
            ("ms", 1, 0),
        ]
    }

    /// Reads a whole number and a unit: `500ms`, `30s`, `5m`, `24h`, `7d`; nil for anything else.
    /// A duration too long for the machine becomes the longest.
    package init?(text: String) {
        guard let quantity = Quantity(text),
            let unit = Self.units.first(where: { $0.unit.hasSameBytes(as: quantity.unit) })
        else { return nil }
        self = .milliseconds(quantity.times(unit.milliseconds))
    }

    /// The shortest text that `init(text:)` reads as this duration. Less than a millisecond is lost.
    package var text: String {
        let milliseconds = microseconds / 1_000
        let fitting = Self.units.first {
            milliseconds % $0.milliseconds == 0 && milliseconds / $0.milliseconds >= $0.from
        }
        guard let fitting else { return "\(milliseconds)ms" }
        return "\(milliseconds / fitting.milliseconds)\(fitting.unit)"
    }
}

extension ValueType where Value == Duration {
    /// A duration in a range, as text.
    static func duration(in range: ClosedRange<Duration>) -> Self {
        Self(expected: "a duration") { value throws(ValueProblem) in
            try readDuration(value, in: range)
        } write: {
            $0.text.tomlText
        }
    }
}

extension ValueType where Value == Duration? {
    /// A duration as text, or the word `never`, which is nil.
    static func durationOrNever(in range: ClosedRange<Duration>) -> Self {
        Self(expected: "a duration or \"never\"") { value throws(ValueProblem) in
            if case .string("never") = value { return nil }
            return try readDuration(value, in: range, or: ", or 'never'")
        } write: {
            ($0?.text ?? "never").tomlText
        }
    }
}

private func readDuration(
    _ value: Node.Value, in range: ClosedRange<Duration>, or alternative: String = ""
) throws(ValueProblem) -> Duration {
    switch value {
    case .string(let text):
        guard let duration = Duration(text: text) else {
            throw .bad(
                "duration",
                cause: "write a number and a unit (ms, s, m, h, d), such as '30s'\(alternative)")
        }
        guard range.contains(duration) else {
            let (least, most) = (range.lowerBound.text, range.upperBound.text)
            throw .bad("duration", cause: "expected \(least) to \(most)\(alternative)")
        }
        return duration
    case .integer(let number):
        // A bare number most likely means seconds.
        throw .wrongType(hint: "write \"\(number < 0 ? 30 : number)s\"")
    case .float, .boolean, .date, .time, .dateTime, .array, .table:
        throw .wrongType(hint: "write a number and a unit, such as \"30s\"")
    }
}

/// A number of bytes, written as `1MiB`, `512KiB` or `100B`.
package struct ByteSize: Hashable, Comparable, Sendable {
    package var bytes: Int

    /// A size in bytes.
    package init(bytes: Int) {
        self.bytes = bytes
    }

    private static let units: [(unit: String, bytes: Int)] = [
        ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
    ]

    /// Nil if `text` is not a whole number with one of the units. A size too large for the machine
    /// becomes the largest.
    package init?(text: String) {
        guard let quantity = Quantity(text),
            let unit = Self.units.first(where: { $0.unit.hasSameBytes(as: quantity.unit) })
        else { return nil }
        bytes = Int(clamping: quantity.times(Int64(unit.bytes)))
    }

    /// The shortest text that `init(text:)` reads as this size.
    package var text: String {
        let fitting = Self.units.first { bytes >= $0.bytes && bytes.isMultiple(of: $0.bytes) }
        guard let fitting else { return "\(bytes)B" }
        return "\(bytes / fitting.bytes)\(fitting.unit)"
    }

    package static func < (left: Self, right: Self) -> Bool { left.bytes < right.bytes }
}

extension ValueType where Value == ByteSize {
    /// A size as an integer of bytes, or as text with a unit.
    static func byteSize(in range: ClosedRange<ByteSize>) -> Self {
        Self(expected: "a number of bytes or a size such as \"512KiB\"") {
            value throws(ValueProblem) in
            let size: ByteSize
            switch value {
            case .integer(let bytes): size = ByteSize(bytes: Int(clamping: bytes))
            case .string(let text):
                guard let read = ByteSize(text: text) else {
                    throw .bad(
                        "size", cause: "write a number and a unit (B, KiB, MiB), such as '512KiB'")
                }
                size = read
            case .float, .boolean, .date, .time, .dateTime, .array, .table: throw .wrongType()
            }
            guard range.contains(size) else {
                let (least, most) = (range.lowerBound.text, range.upperBound.text)
                throw .bad("size", cause: "expected \(least) to \(most)")
            }
            return size
        } write: {
            $0.text.tomlText
        }
    }
}
