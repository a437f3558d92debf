/// A position in ASCII text that moves on as the expected is taken; it stays where it is when not.
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
        guard bytes[index...].starts(with: word.utf8) else { return false }
        index += word.utf8.count
        return true
    }

    /// Takes the first of these words that stands here, and says which it was.
    mutating func take(oneOf words: [String]) -> Int? {
        for (position, word) in words.enumerated() where take(word: word) { return position }
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
        let run = bytes[index...].prefix(digits.upperBound).prefix { $0.isDigit }
        guard run.count >= digits.lowerBound else { return nil }
        index = run.endIndex
        return run.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
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
