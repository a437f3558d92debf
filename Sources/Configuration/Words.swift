import Decision
import JSON
import SourceSettings

extension String {
    /// The text in single quotes, for a message. Unprintable characters are escaped, so that the text
    /// cannot move the cursor of a terminal or split a line of the journal; a long text is cut.
    var quoted: String {
        let limit = 100
        if isPlain, utf8.count <= limit { return "'\(self)'" }
        let shown = unicodeScalars.prefix(limit).map(\.escapedForDisplay).joined()
        return unicodeScalars.count > limit ? "'\(shown)…'" : "'\(shown)'"
    }

    /// The text in single quotes, as `quoted`, without the secrets of an address.
    var shown: String { withoutSecrets.quoted }

    /// The text with unprintable characters escaped as in TOML.
    var escapedForDisplay: String {
        isPlain ? self : unicodeScalars.map(\.escapedForDisplay).joined()
    }

    /// Whether nothing of it is ever escaped: printable ASCII without quotes and backslashes.
    private var isPlain: Bool {
        utf8.allSatisfy { byte in
            (UInt8(ascii: " ")...UInt8(ascii: "~")).contains(byte)
                && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        }
    }

    /// The text as a basic string of TOML.
    var tomlText: String {
        if isPlain { return "\"\(self)\"" }
        let escaped = unicodeScalars.map { scalar in
            scalar == "\"" || scalar == "\\" ? "\\\(scalar)" : scalar.escapedForDisplay
        }
        return "\"\(escaped.joined())\""
    }

    /// The text as one key of a dotted path: bare if TOML allows that.
    var keyText: String {
        let isBare = utf8.allSatisfy { $0.isAlphanumeric || "_-".utf8.contains($0) }
        return isBare && !isEmpty ? self : tomlText
    }

    /// Whether every character is ASCII, from `first` to `~`.
    func isASCII(from first: Unicode.Scalar) -> Bool {
        utf8.allSatisfy { (UInt8(ascii: first)...UInt8(ascii: "~")).contains($0) }
    }

    /// Whether the UTF-8 bytes are equal. By `==`, canonical equivalence, two different keys may be equal.
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension [String] {
    var eachOnce: [String] {
        reduce(into: []) { if !$0.contains(where: $1.hasSameBytes) { $0.append($1) } }
    }

    /// `'a', 'b' or 'c'`.
    var alternatives: String {
        let words = map(\.quoted)
        guard let last = words.last, words.count > 1 else { return words.joined() }
        return "\(words.dropLast().joined(separator: ", ")) or \(last)"
    }
}

extension UInt8 {
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var isAlphanumeric: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }
}

extension Unicode.Scalar {
    /// The scalar itself, or TOML's escape for an unprintable scalar.
    fileprivate var escapedForDisplay: String {
        if isPrintable { return String(self) }
        let digits = String(value, radix: 16, uppercase: true)
        let width = value > 0xFFFF ? 8 : 4
        let zeros = String(repeating: "0", count: width - digits.utf8.count)
        return "\\\(width == 8 ? "U" : "u")\(zeros)\(digits)"
    }
}

/// The word of `words` nearest to `text`, for "did you mean", the first of equals; nil if none is within one
/// edit in three characters.
package func nearest(to text: String, among words: some Sequence<String>) -> String? {
    let wanted = Array(text.utf8)
    var limit = min(3, max(1, wanted.count / 3))
    var nearest: String?
    for word in words {
        guard let distance = editDistance(wanted, Array(word.utf8), atMost: limit) else { continue }
        if distance == 0 { return word }
        nearest = word
        limit = distance - 1
    }
    return nearest
}
