/// Why bytes are not JSON, with the place of the error.
package struct SyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    package let offset: Int
    /// The line, counted from 1. A line ends with a line feed.
    package let line: Int
    /// The position in the line in bytes, counted from 1.
    package let column: Int
    /// One line, such as `unexpected ',' at line 3, column 5: expected a value`. It quotes the input cut and escaped.
    package let description: String

    /// The grammar's requirement at the place of an error, with the words for it.
    enum Expected: String {
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
        case escapedControl = "control characters in a string to be escaped"
        case escape = #"one of " \ / b f n r t u after the backslash"#
        case hexDigits = "four hexadecimal digits"
    }
}

extension Parser {
    /// An error at an offset of this document. `sentence` makes the description of the line and the place in words.
    func failure(
        at offset: Int, _ sentence: (_ line: Int, _ place: String) -> String
    ) -> SyntaxError {
        let before = bytes[..<offset]
        let lineStart = before.lastIndex(of: .lineFeed).map { $0 + 1 } ?? 0
        let (line, column) = (before.count { $0 == .lineFeed } + 1, offset - lineStart + 1)
        return SyntaxError(
            offset: offset, line: line, column: column,
            description: sentence(line, "at line \(line), column \(column)"))
    }

    var unfinishedString: SyntaxError {
        failure(at: offset) { line, _ in "line \(line): the document ends inside a string" }
    }

    /// The error that the next character does not fit the grammar.
    func unexpectedCharacter(_ expected: SyntaxError.Expected) -> SyntaxError {
        // No character of UTF-8 is longer than four bytes.
        switch String(decoding: bytes[offset...].prefix(4), as: UTF8.self).unicodeScalars.first {
        case nil: unexpected("end of input", expected)
        case "\n" where expected == .escapedControl:
            failure(at: offset) { line, _ in
                "line \(line): a string has no '\"' at its end before the line ends"
            }
        case "'": unexpected("\"'\"", expected)
        case let scalar? where scalar.isASCII && scalar.isPrintable:
            unexpected(quoted(String(scalar)), expected)
        case let scalar?: unexpected("U+\(scalar.value.hexadecimal.uppercased())", expected)
        }
    }

    /// The error that the next character, or word such as `NaN`, does not fit the grammar, outside of strings.
    func unexpected(_ expected: SyntaxError.Expected) -> SyntaxError {
        guard let next, next.isLetter else { return unexpectedCharacter(expected) }
        let letters = bytes[offset...].prefix(32).prefix { $0.isLetter || $0.isDigit }
        return unexpected(quoted(String(decoding: letters, as: UTF8.self)), expected)
    }

    private func unexpected(_ found: String, _ expected: SyntaxError.Expected) -> SyntaxError {
        failure(at: offset) { "unexpected \(found) \($1): expected \(expected.rawValue)" }
    }
}

/// The text in single quotes, cut to 40 characters; unprintable characters as `\u{…}`.
func quoted(_ text: String) -> String {
    let limit = 40
    let shown = text.unicodeScalars.prefix(limit).map {
        $0.isPrintable ? String($0) : "\\u{\($0.value.hexadecimal)}"
    }
    return "'\(shown.joined())\(text.unicodeScalars.count > limit ? "…" : "")'"
}

extension FixedWidthInteger {
    /// At least four hexadecimal digits.
    var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: Swift.max(0, 4 - digits.count)) + digits
    }
}
