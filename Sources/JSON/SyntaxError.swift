/// Why bytes are not JSON, with the place of the error.
package struct SyntaxError: Error, Hashable, Sendable {
    /// The rule that the document breaks.
    package let kind: Kind
    /// The number of bytes before the error.
    package let offset: Int
    /// The line, counted from 1. A line ends with a line feed.
    package let line: Int
    /// The position in the line in bytes, counted from 1.
    package let column: Int

    /// An error at an offset of a document, whose lines are counted up to there.
    init(_ kind: Kind, at offset: Int, of bytes: [UInt8]) {
        let before = bytes[..<offset]
        let lineStart = before.lastIndex(of: .lineFeed).map { $0 + 1 } ?? 0
        self.kind = kind
        self.offset = offset
        self.line = before.count { $0 == .lineFeed } + 1
        self.column = offset - lineStart + 1
    }

    /// The rules that a document can break.
    package enum Kind: Hashable, Sendable {
        /// The document is empty, or only white space.
        case empty
        /// The text begins with U+FEFF (RFC 8259 §8.1).
        case byteOrderMark
        /// The text has another encoding, or invalid UTF-8 (RFC 8259 §8.1).
        case notUTF8(Encoding)
        /// The grammar requires something else here.
        case unexpected(Found, expected: Expected)
        /// An object has this key already.
        case duplicateKey(String)
        /// Half of an escaped surrogate pair, which stands for no character (RFC 8259 §8.2).
        case loneSurrogate(UInt16)
        /// Arrays and objects are nested deeper than this many levels (RFC 8259 §9).
        case tooDeep(limit: Int)
        /// The values are so small and so many that they would take this many times the memory of the
        /// document.
        case tooManyValues(times: Int)
    }

    /// The bytes that the document has instead of valid UTF-8, with the words for them.
    package enum Encoding: String, Sendable {
        case utf16 = "this looks like UTF-16"
        case utf32 = "this looks like UTF-32"
        case continuation = "a continuation byte without a first one"
        case overlong = "a character in more bytes than it needs"
        /// U+D800 to U+DFFF.
        case surrogate = "an encoded surrogate"
        case truncated = "a character cut short"
        /// Above U+10FFFF, or a byte that UTF-8 never uses.
        case invalid = "a byte that begins no character"
    }

    /// The part of the document at the place of the error.
    package enum Found: Hashable, Sendable {
        case end
        case character(Unicode.Scalar)
        /// Letters outside of a string, such as `NaN`, `True` or `undefined`.
        case word(String)
    }

    /// The grammar's requirement at the place of the error, with the words for it.
    package enum Expected: String, Sendable {
        case value = "a value"
        case valueOrEndOfArray = "a value or ']'"
        case key = "a key in double quotes"
        case keyOrEndOfObject = "a key in double quotes or '}'"
        case colon = "':'"
        case commaOrEndOfArray = "',' or ']'"
        case commaOrEndOfObject = "',' or '}'"
        case endOfInput = "nothing after the value"
        case digit = "a digit"
        case noDigitAfterZero = "no digit after a leading 0"
        case endOfString = "the '\"' that ends the string"
        case escapedControl = "control characters in a string to be escaped"
        case escape = #"one of " \ / b f n r t u after the backslash"#
        case hexDigits = "four hexadecimal digits"
    }
}

extension SyntaxError: CustomStringConvertible {
    /// One line, such as `unexpected ',' at line 3, column 5: expected a value`.
    ///
    /// Quotations of the input are cut and escaped, so that a log or a terminal can show the line.
    package var description: String {
        let place = "at line \(line), column \(column)"
        return switch kind {
        case .empty: "empty input: expected a value"
        case .byteOrderMark: "byte order mark \(place): JSON begins without one"
        case .notUTF8(let encoding): "not UTF-8 \(place): \(encoding.rawValue)"
        case .unexpected(.end, .endOfString): "line \(line): the document ends inside a string"
        case .unexpected(.character("\n"), .escapedControl):
            "line \(line): a string has no '\"' at its end before the line ends"
        case .unexpected(let found, let expected):
            "unexpected \(found.description) \(place): expected \(expected.rawValue)"
        case .duplicateKey(let key):
            "duplicate key \(quoted(key)) \(place): expected each key once in an object"
        case .loneSurrogate(let unit):
            "lone surrogate '\\u\(hex(UInt32(unit)))' \(place): expected a pair, high before low"
        case .tooDeep(let limit):
            "nested too deep \(place): expected at most \(limit) levels of arrays and objects"
        case .tooManyValues(let times):
            "too many values \(place): expected values in at most \(times) times the document's size"
        }
    }
}

extension SyntaxError.Found {
    fileprivate var description: String {
        switch self {
        case .end: "end of input"
        case .character("'"): "\"'\""
        case .character(let scalar) where scalar.isASCII && scalar.isPrintable:
            quoted(String(scalar))
        case .character(let scalar): "U+\(hex(scalar.value).uppercased())"
        case .word(let word): quoted(word)
        }
    }
}

/// The text in single quotes, cut to 40 characters; unprintable characters as `\u{…}`.
private func quoted(_ text: String) -> String {
    let limit = 40
    let shown = text.unicodeScalars.prefix(limit).map {
        $0.isPrintable ? String($0) : "\\u{\(hex($0.value))}"
    }
    return "'\(shown.joined())\(text.unicodeScalars.count > limit ? "…" : "")'"
}

/// At least four hexadecimal digits.
private func hex(_ number: UInt32) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}
