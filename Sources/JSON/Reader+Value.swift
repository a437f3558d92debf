extension Reader {
    /// Reads the one value that a document consists of (RFC 8259 §2).
    mutating func readDocument() throws(SyntaxError) -> Value {
        try checkEncoding()
        skipWhitespace()
        guard !isAtEnd else { throw failure(.empty, at: offset) }
        let value = try readValue(or: .value, depth: 0)
        skipWhitespace()
        guard isAtEnd else { throw unexpected(.endOfInput) }
        return value
    }

    /// Reads a value inside `depth` arrays and objects. The error says `expected` where none begins.
    private mutating func readValue(
        or expected: SyntaxError.Expected, depth: Int
    ) throws(SyntaxError) -> Value {
        switch next {
        case .quote: .string(try readString())
        case .openBrace: .object(try readObject(depth: depth))
        case .openBracket: .array(try readArray(depth: depth))
        case let byte? where byte == .minus || byte.isDigit: .number(try readNumber())
        default: try readWord(or: expected)
        }
    }

    /// Reads `true`, `false` or `null` (RFC 8259 §3).
    private mutating func readWord(
        or expected: SyntaxError.Expected
    ) throws(SyntaxError) -> Value {
        let (word, value): (String, Value) =
            switch next {
            case UInt8(ascii: "t"): ("true", true)
            case UInt8(ascii: "f"): ("false", false)
            default: ("null", .null)
            }
        guard skip(word: word) else { throw unexpected(expected) }
        return value
    }

    /// Reads an array (RFC 8259 §5).
    private mutating func readArray(depth: Int) throws(SyntaxError) -> [Value] {
        try enter(depth)
        var elements: [Value] = []
        skipWhitespace()
        if skip(.closeBracket) { return elements }
        var expected = SyntaxError.Expected.valueOrEndOfArray
        repeat {
            skipWhitespace()
            elements.append(try readValue(or: expected, depth: depth + 1))
            skipWhitespace()
            expected = .value
        } while skip(.comma)
        guard skip(.closeBracket) else { throw unexpected(.commaOrEndOfArray) }
        return elements
    }

    /// Reads an object (RFC 8259 §4).
    private mutating func readObject(depth: Int) throws(SyntaxError) -> Object {
        try enter(depth)
        var object = Object()
        skipWhitespace()
        if skip(.closeBrace) { return object }
        var expected = SyntaxError.Expected.keyOrEndOfObject
        repeat {
            skipWhitespace()
            try readKey(into: &object, or: expected)
            skipWhitespace()
            guard skip(.colon) else { throw unexpected(.colon) }
            skipWhitespace()
            object.complete(try readValue(or: .value, depth: depth + 1))
            skipWhitespace()
            expected = .key
        } while skip(.comma)
        guard skip(.closeBrace) else { throw unexpected(.commaOrEndOfObject) }
        return object
    }

    /// Reads a key that the object does not have yet, and gives it a member.
    private mutating func readKey(
        into object: inout Object, or expected: SyntaxError.Expected
    ) throws(SyntaxError) {
        guard next == .quote else { throw unexpected(expected) }
        let start = offset
        let key = try readString()
        guard object.admit(key) else { throw failure(.duplicateKey(key), at: start) }
    }

    /// Moves past the bracket or brace that opens one more level.
    private mutating func enter(_ depth: Int) throws(SyntaxError) {
        guard depth < depthLimit else { throw failure(.tooDeep(limit: depthLimit), at: offset) }
        offset += 1
    }
}
