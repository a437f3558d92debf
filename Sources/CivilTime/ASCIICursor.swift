/// A position in ASCII text that moves on as the expected is taken; it stays where it is when not.
///
/// Its loops are plain ones: a date stands in every answer of a server.
struct ASCIICursor {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// Where the next character stands, counted from 1 as people do.
    var column: Int { index + 1 }

    var isAtEnd: Bool { index == bytes.count }

    /// The next byte, not taken; nil at the end.
    var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Takes the next character when it is this one.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    /// Takes this whole word, letter case included, or nothing.
    mutating func take(word: String) -> Bool {
        var end = index
        for byte in word.utf8 {
            guard end < bytes.count, bytes[end] == byte else { return false }
            end += 1
        }
        index = end
        return true
    }

    /// Takes the first of these words that stands here, and says which it was.
    mutating func take(oneOf words: [String]) -> Int? {
        for position in words.indices where take(word: words[position]) { return position }
        return nil
    }

    /// Takes bytes as long as they please, and says how many those were.
    mutating func take(while isWanted: (UInt8) -> Bool) -> Int {
        let end = bytes[index...].firstIndex { !isWanted($0) } ?? bytes.count
        defer { index = end }
        return end - index
    }

    /// Takes as many digits as stand here, up to the upper bound, as one decimal number.
    ///
    /// The upper bound is at most 18, so that the number fits. With fewer digits than the lower
    /// bound it takes none.
    mutating func takeNumber(digits: ClosedRange<Int>) -> Int? {
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

extension UInt8 {
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
}

extension String {
    /// At most the first 40 characters, safe to put between quotes in a log line: what is not
    /// printable ASCII is escaped.
    var excerpt: String {
        let scalars = unicodeScalars.prefix(40)
        let cut = scalars.endIndex < unicodeScalars.endIndex ? "..." : ""
        return scalars.map { $0.escaped(asASCII: true) }.joined() + cut
    }
}
