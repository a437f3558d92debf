/// The words of a line. White space within double quotes belongs to a word.
struct SignerWords {
    private var rest: Substring.UTF8View

    /// The words of one line.
    init(_ text: String) { rest = text[...].utf8 }

    /// The next word with its quotes; nil at the end.
    mutating func next() throws(FormatProblem) -> String? {
        rest = rest.drop(while: \.isWhiteSpace)
        guard !rest.isEmpty else { return nil }
        let count = try rest.lengthOutsideQuotes(until: \.isWhiteSpace)
        defer { rest = rest.dropFirst(count) }
        return String(Substring(rest.prefix(count)))
    }
}

extension Substring.UTF8View {
    /// The number of bytes up to the first that ends a part and is not in double quotes. A backslash in
    /// front of a quote keeps it from ending the quotes.
    fileprivate func lengthOutsideQuotes(until ends: (UInt8) -> Bool) throws(FormatProblem) -> Int {
        var isQuoted = false
        var previous: UInt8 = 0
        var length = 0
        for byte in self {
            if byte == UInt8(ascii: "\""), !(isQuoted && previous == UInt8(ascii: "\\")) {
                isQuoted.toggle()
            } else if !isQuoted, ends(byte) {
                return length
            }
            previous = byte
            length += 1
        }
        guard !isQuoted else { throw FormatProblem("a double quote is not closed") }
        return length
    }
}

extension String {
    /// The parts between these separators, those in double quotes left out.
    func quotedParts(separator: Unicode.Scalar) throws(FormatProblem) -> [String] {
        var rest = self[...].utf8
        var parts: [String] = []
        while true {
            let count = try rest.lengthOutsideQuotes { $0 == UInt8(ascii: separator) }
            parts.append(String(Substring(rest.prefix(count))))
            rest = rest.dropFirst(count)
            if rest.isEmpty { return parts }
            rest = rest.dropFirst()
        }
    }

    /// The text between double quotes, `\"` as a quote; nil if it is not quoted as a whole.
    var unquoted: String? {
        let quote = UInt8(ascii: "\"")
        guard utf8.count >= 2, utf8.first == quote, utf8.last == quote else { return nil }
        var bytes: [UInt8] = []
        for byte in utf8.dropFirst().dropLast() {
            if byte == quote {
                guard bytes.last == UInt8(ascii: "\\") else { return nil }
                bytes.removeLast()
            }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    /// What separates words. A carriage return ends a line that was written on Windows.
    fileprivate var isWhiteSpace: Bool { [0x20, 0x09, 0x0D].contains(self) }
}
