/// Why bytes are not JSON, and where.
package struct SyntaxError: Error, Hashable, Sendable {
    /// What is wrong there.
    package let kind: Kind
    /// How many bytes come before the place of the error.
    package let offset: Int
    /// The line of the place, from 1. A line ends with a line feed.
    package let line: Int
    /// The place in its line, in bytes, from 1.
    package let column: Int

    /// Counts the lines of the document up to the place.
    init(_ kind: Kind, at offset: Int, of bytes: [UInt8]) {
        let before = bytes[..<offset]
        let lineStart = before.lastIndex(of: .lineFeed).map { $0 + 1 } ?? 0
        self.kind = kind
        self.offset = offset
        self.line = before.count { $0 == .lineFeed } + 1
        self.column = offset - lineStart + 1
    }

    /// What is wrong.
    package enum Kind: Hashable, Sendable {
        /// There is nothing, or nothing but white space.
        case empty
        /// The text begins with U+FEFF (RFC 8259 §8.1).
        case byteOrderMark
        /// The text is in another encoding, or broken (RFC 8259 §8.1).
        case notUTF8(Encoding)
        /// The grammar wants something else here.
        case unexpected(Found, expected: Expected)
        /// An object has this key already.
        case duplicateKey(String)
        /// Half of an escaped surrogate pair, which stands for no character (RFC 8259 §8.2).
        case loneSurrogate(UInt16)
        /// Arrays and objects are nested deeper than this many levels (RFC 8259 §9).
        case tooDeep(limit: Int)
    }

    /// What was found in place of UTF-8.
    package enum Encoding: Hashable, Sendable {
        case utf16
        case utf32
        /// A byte that continues a character where none has begun.
        case continuation
        /// More bytes than the character needs.
        case overlong
        /// U+D800 to U+DFFF.
        case surrogate
        /// The end, or another character, inside a character.
        case truncated
        /// Above U+10FFFF, or a byte that UTF-8 never uses.
        case invalid
    }

    /// What was found in place of what the grammar wants.
    package enum Found: Hashable, Sendable {
        case end
        case character(Unicode.Scalar)
        /// Letters outside of a string, such as `NaN`, `True` or `undefined`.
        case word(String)
    }

    /// What the grammar wants.
    package enum Expected: Hashable, Sendable {
        case value
        case valueOrEndOfArray
        case key
        case keyOrEndOfObject
        case colon
        case commaOrEndOfArray
        case commaOrEndOfObject
        case endOfInput
        case digit
        case noDigitAfterZero
        case endOfString
        case escapedControl
        case escape
        case hexDigits
    }
}
