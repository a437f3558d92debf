/// A position in ASCII text or binary numbers. `consume` and `read` move past the bytes that they expect, or stay.
///
/// The loops are simple for speed: every answer of a server has a date.
struct ByteCursor {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// The position of the next character, counted from 1.
    var column: Int { index + 1 }

    var isAtEnd: Bool { index == bytes.count }

    /// The next byte, not taken; nil at the end.
    var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Takes the next character if it is `character`; returns whether it was.
    mutating func consume(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    /// Takes this character; throws if another character comes.
    mutating func expect(_ character: Unicode.Scalar) throws(TimeProblem) {
        guard consume(character) else { throw .expected("'\(character)'", at: column) }
    }

    /// Takes this whole word, compared with letter case, or nothing; says whether it did.
    mutating func consume(word: String) -> Bool {
        var end = index
        for byte in word.utf8 {
            guard end < bytes.count, bytes[end] == byte else { return false }
            end += 1
        }
        index = end
        return true
    }

    /// Takes one of the names of three letters that stand one after the other; returns its index, or nil.
    mutating func consume(oneOf names: StaticString) -> Int? {
        guard bytes.count - index >= 3 else { return nil }
        let found = names.withUTF8Buffer { names in
            stride(from: 0, to: names.count, by: 3).first { start in
                unsafe names[start] == bytes[index] && names[start + 1] == bytes[index + 1]
                    && names[start + 2] == bytes[index + 2]
            }
        }
        guard let found else { return nil }
        index += 3
        return found / 3
    }

    /// Takes bytes as long as the condition holds; returns them.
    mutating func read(while isWanted: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let taken = bytes[index...].prefix(while: isWanted)
        index = taken.endIndex
        return taken
    }

    /// Takes this many bytes; nil if fewer are left.
    mutating func read(count: Int) -> ArraySlice<UInt8>? {
        guard count <= bytes.count - index else { return nil }
        defer { index += count }
        return bytes[index..<index + count]
    }

    /// Takes up to `digits.upperBound` digits, at most 18, as one decimal number; with too few none, and returns nil.
    mutating func readNumber(digits: ClosedRange<Int>) -> Int? {
        var end = index
        var number = 0
        while end < bytes.count, end - index < digits.upperBound, bytes[end].isDigit {
            number = number * 10 + Int(bytes[end] - UInt8(ascii: "0"))
            end += 1
        }
        guard end - index >= digits.lowerBound else { return nil }
        index = end
        return number
    }
}

/// Why the text of a time, or the file of a time zone, cannot be read.
package struct TimeError: Error, Hashable, CustomStringConvertible {
    /// What was read: `time`, `time zone`.
    let kind: String
    /// The text of the time, or the name of the zone.
    package let text: String
    package let problem: TimeProblem

    /// `read time '2027-02-30': 2027-02 has no day 30`
    package var description: String { "read \(kind) '\(text.excerpt)': \(problem.clause)" }
}

/// A clause for an error, such as `a 4-digit year expected at character 1`.
package struct TimeProblem: Error, Hashable {
    let clause: String

    init(_ clause: String) { self.clause = clause }

    /// This was expected at this character, counted from 1.
    static func expected(_ text: String, at column: Int) -> TimeProblem {
        TimeProblem("\(text) expected at character \(column)")
    }
}

extension UInt8 {
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
}

extension String {
    /// At most 40 characters, for a quotation in an error. All but ASCII is escaped, which times and footers are.
    var excerpt: String {
        let scalars = unicodeScalars.prefix(40)
        let cut = scalars.endIndex < unicodeScalars.endIndex ? "..." : ""
        return scalars.map { $0.escaped(asASCII: true) }.joined() + cut
    }
}
