/// A string that is equal to another only byte by byte.
///
/// RFC 8259 §8.3 compares strings code unit by code unit. Swift's own `==` compares them by canonical
/// equivalence, where the Kelvin sign is the letter K; and its hash is the same for every one of the
/// exponentially many spellings of an accented word, which would let a document slow a table down.
package struct ExactString: Hashable, Sendable {
    package let text: String

    /// The same text, compared otherwise.
    package init(_ text: String) {
        self.text = text
    }

    package static func == (left: ExactString, right: ExactString) -> Bool {
        left.consists(of: right.text.utf8Span.span)
    }

    /// Whether it is these bytes.
    func consists(of bytes: Span<UInt8>) -> Bool {
        guard text.utf8.count == bytes.count else { return false }
        let own = text.utf8Span.span
        for index in own.indices where own[index] != bytes[index] { return false }
        return true
    }

    /// Feeds eight bytes at a time to the seeded hasher, and the length, which tells apart strings
    /// that differ in leading NULs only.
    package func hash(into hasher: inout Hasher) {
        let bytes = text.utf8Span.span
        var word: UInt64 = 0
        for index in bytes.indices {
            word = word << 8 | UInt64(bytes[index])
            if index % 8 == 7 { hasher.combine(word) }
        }
        hasher.combine(word)
        hasher.combine(bytes.count)
    }
}
