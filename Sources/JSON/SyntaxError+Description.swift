extension SyntaxError: CustomStringConvertible {
    /// One line, such as `unexpected ',' at line 3, column 5: expected a value`.
    ///
    /// What it cites of the input is short and printable, so it is fit for a log or a terminal.
    package var description: String {
        let place = "at line \(line), column \(column)"
        return switch kind {
        case .empty:
            "empty input: expected a value"
        case .byteOrderMark:
            "byte order mark \(place): JSON begins without one"
        case .notUTF8(let encoding):
            "not UTF-8 \(place): \(encoding.description)"
        case .unexpected(let found, let expected):
            "unexpected \(found.description) \(place): expected \(expected.description)"
        case .duplicateKey(let key):
            "duplicate key \(quoted(key)) \(place): expected each key once in an object"
        case .loneSurrogate(let unit):
            "lone surrogate '\\u\(hex(UInt32(unit)))' \(place): expected a pair, high before low"
        case .tooDeep(let limit):
            "nested too deep \(place): expected at most \(limit) levels of arrays and objects"
        }
    }
}

extension SyntaxError.Encoding {
    fileprivate var description: String {
        switch self {
        case .utf16: "this looks like UTF-16"
        case .utf32: "this looks like UTF-32"
        case .continuation: "a continuation byte without a first one"
        case .overlong: "a character in more bytes than it needs"
        case .surrogate: "an encoded surrogate"
        case .truncated: "a character cut short"
        case .invalid: "a byte that begins no character"
        }
    }
}

extension SyntaxError.Found {
    fileprivate var description: String {
        switch self {
        case .end: "end of input"
        case .character("'"): "\"'\""
        case .character(let scalar) where scalar.isPrintableASCII: quoted(String(scalar))
        case .character(let scalar): "U+\(hex(scalar.value).uppercased())"
        case .word(let word): quoted(word)
        }
    }
}

extension SyntaxError.Expected {
    fileprivate var description: String {
        switch self {
        case .value: "a value"
        case .valueOrEndOfArray: "a value or ']'"
        case .key: "a key in double quotes"
        case .keyOrEndOfObject: "a key in double quotes or '}'"
        case .colon: "':'"
        case .commaOrEndOfArray: "',' or ']'"
        case .commaOrEndOfObject: "',' or '}'"
        case .endOfInput: "nothing after the value"
        case .digit: "a digit"
        case .noDigitAfterZero: "no digit after a leading 0"
        case .endOfString: "the '\"' that ends the string"
        case .escapedControl: "control characters in a string to be escaped"
        case .escape: #"one of " \ / b f n r t u after the backslash"#
        case .hexDigits: "four hexadecimal digits"
        }
    }
}

/// The text in single quotes: cut to 40 characters, and unprintable ones as `\u{…}`.
private func quoted(_ text: String) -> String {
    let limit = 40
    var quoted = "'"
    for scalar in text.unicodeScalars.prefix(limit) {
        if scalar.isPrintable {
            quoted.unicodeScalars.append(scalar)
        } else {
            quoted += "\\u{\(hex(scalar.value))}"
        }
    }
    return quoted + (text.unicodeScalars.count > limit ? "…'" : "'")
}

/// At least four hexadecimal digits.
private func hex(_ number: UInt32) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}

extension Unicode.Scalar {
    fileprivate var isPrintableASCII: Bool { (0x20...0x7E).contains(value) }

    /// False for what could move the cursor, hide or reorder text: controls, separators, marks of
    /// direction.
    fileprivate var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned,
            .surrogate:
            false
        default: true
        }
    }
}
