extension Value {
    /// How deep a value of somebody else may be nested.
    package static let depthLimit = 64
    /// How deep a document of our own may be: it has such values inside a few levels more.
    package static let ownDepthLimit = 2 * depthLimit

    /// Reads exactly one JSON value, strictly by RFC 8259, with white space around it.
    ///
    /// Refused besides what the grammar refuses: another encoding than UTF-8, a byte order mark, a
    /// key twice in an object (compared once escapes are undone), half a surrogate pair, and values
    /// nested deeper than `depthLimit`, where a scalar is 0 levels and `[]` is 1. The stack used
    /// grows with the limit, not with the input: keep it in the hundreds.
    package static func parse(
        _ bytes: [UInt8], depthLimit: Int = depthLimit
    ) throws(SyntaxError) -> Value {
        var reader = Reader(bytes: bytes, depthLimit: depthLimit)
        return try reader.readDocument()
    }

    /// Reads exactly one JSON value from a text that is in memory already.
    package static func parse(
        _ text: String, depthLimit: Int = depthLimit
    ) throws(SyntaxError) -> Value {
        try parse(Array(text.utf8), depthLimit: depthLimit)
    }
}

/// A place in the bytes of a document, which each `read…` moves past what it has read.
struct Reader {
    let bytes: [UInt8]
    let depthLimit: Int
    var offset = 0

    /// The place before the first byte.
    init(bytes: [UInt8], depthLimit: Int) {
        self.bytes = bytes
        self.depthLimit = depthLimit
    }

    /// The byte at this place; nil at the end.
    var next: UInt8? {
        offset < bytes.count ? bytes[offset] : nil
    }

    /// Whether every byte has been read.
    var isAtEnd: Bool { offset == bytes.count }

    /// Moves to the next byte that is not white space.
    mutating func skipWhitespace() {
        while let byte = next, byte.isWhitespace { offset += 1 }
    }

    /// Moves past the byte if it comes next, and says whether it did.
    @inline(__always) mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        offset += 1
        return true
    }

    /// Moves past the whole word if it comes next, and says whether it did.
    mutating func skip(word: String) -> Bool {
        var end = offset
        for byte in word.utf8 {
            guard end < bytes.count, bytes[end] == byte else { return false }
            end += 1
        }
        if end < bytes.count, bytes[end].isLetter || bytes[end].isDigit { return false }
        offset = end
        return true
    }

    /// An error at a place of this document.
    func failure(_ kind: SyntaxError.Kind, at offset: Int) -> SyntaxError {
        SyntaxError(kind, at: offset, of: bytes)
    }

    /// The error that the character which comes next is not what the grammar wants.
    func unexpectedCharacter(_ expected: SyntaxError.Expected) -> SyntaxError {
        // No character of UTF-8 is longer than four bytes.
        let found = String(decoding: bytes[offset...].prefix(4), as: UTF8.self).unicodeScalars.first
        return failure(
            .unexpected(found.map { .character($0) } ?? .end, expected: expected), at: offset)
    }

    /// The same outside of strings, where letters are taken for a word.
    func unexpected(_ expected: SyntaxError.Expected) -> SyntaxError {
        guard let word else { return unexpectedCharacter(expected) }
        return failure(.unexpected(.word(word), expected: expected), at: offset)
    }

    /// The word that comes next, cut where it is too long to be known; nil where none begins.
    var word: String? {
        guard let next, next.isLetter else { return nil }
        let letters = bytes[offset...].prefix(32).prefix { $0.isLetter || $0.isDigit }
        return String(decoding: letters, as: UTF8.self)
    }
}
