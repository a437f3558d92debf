import JSON

extension String {
    /// The text in single quotes, for a sentence: what could move the cursor of a terminal or split
    /// a line of the journal is escaped, and a long text is cut.
    var quoted: String {
        let limit = 100
        let shown = unicodeScalars.prefix(limit).map(\.escapedForDisplay).joined()
        return unicodeScalars.count > limit ? "'\(shown)…'" : "'\(shown)'"
    }

    /// The text with unprintable characters escaped as in TOML.
    var escapedForDisplay: String {
        unicodeScalars.map(\.escapedForDisplay).joined()
    }

    /// The text as a basic string of TOML.
    var tomlText: String {
        let escaped = unicodeScalars.map { scalar in
            scalar == "\"" || scalar == "\\" ? "\\\(scalar)" : scalar.escapedForDisplay
        }
        return "\"\(escaped.joined())\""
    }

    /// The text as one key of a dotted path: bare where TOML allows it.
    var keyText: String {
        let isBare =
            !isEmpty
            && utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        return isBare ? self : tomlText
    }

    /// Equal byte for byte. `==` is canonical equivalence, in which two keys of TOML that differ can
    /// be one.
    func hasSameBytes(as other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
    }
}

extension [String] {
    /// `'a', 'b' or 'c'`.
    var alternatives: String {
        let words = map(\.quoted)
        guard let last = words.last, words.count > 1 else { return words.joined() }
        return "\(words.dropLast().joined(separator: ", ")) or \(last)"
    }
}

extension Unicode.Scalar {
    /// The scalar itself, or TOML's escape for one that is not printable.
    fileprivate var escapedForDisplay: String {
        if isPrintable { return String(self) }
        let digits = String(value, radix: 16, uppercase: true)
        let width = value > 0xFFFF ? 8 : 4
        let zeros = String(repeating: "0", count: width - digits.utf8.count)
        return "\\\(width == 8 ? "U" : "u")\(zeros)\(digits)"
    }
}
