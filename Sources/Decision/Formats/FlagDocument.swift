package import CivilTime
package import JSON

/// Reads the body of an answer as flags: the members of one JSON object. The error tells an empty body, a web page and
/// broken JSON apart, because each points the administrator to another mistake at the server.
///
/// The whole body may also be one value, for the formats that read one: it is then the flag with the key `wholeKey`.
package enum FlagDocument {
    /// The key of the flag that is the whole answer. In etcd it is the key that is the prefix itself.
    package static let wholeKey = ""

    /// Which bodies that are no object hold a flag.
    package enum Alone: Sendable {
        case nothing
        /// As `value`, if only the media type were one of JSON.
        case valueOfOtherType
        /// `true`, `false` or a string, as JSON.
        case value
        /// The same, or a word without quotes. Over a network it would be an order, from any proxy that says `OK`.
        case word
    }

    /// The flags in `body`. Throws a failure of the kind `invalid` unless it is one JSON object, or a value alone of
    /// those that count.
    package static func parse(
        _ body: [UInt8], alone: Alone = .nothing
    ) throws(Failure) -> JSON.Object {
        guard let first = body.first(where: { !$0.isBlank }) else {
            throw Failure(.invalid, "the answer is empty")
        }
        if first == UInt8(ascii: "<") {
            throw Failure(.invalid, "the answer is a web page, not JSON")
        }
        if alone == .word, let word = word(in: body) { return [wholeKey: .string(word)] }
        let value: JSON.Value
        do {
            value = try JSON.Value.parse(body)
        } catch {
            throw Failure(.invalid, "the answer is not valid JSON: \(error)")
        }
        switch (value, alone) {
        case (.object(let flags), _): return flags
        case (.bool, .value), (.bool, .word), (.string, .value), (.string, .word):
            return [wholeKey: value]
        case (.bool, .valueOfOtherType), (.string, .valueOfOtherType):
            throw Failure(
                .invalid,
                "the answer is \(value.typeName) alone, which counts only with the Content-Type "
                    + "application/json")
        default: throw Failure(.invalid, "the answer is \(value.typeName), not a JSON object")
        }
    }

    /// The one word without quotes that a body is; nil for any other body, and for `null`.
    private static func word(in body: [UInt8]) -> String? {
        let word = body.drop(while: \.isBlank).prefix { $0.isOfWord }
        guard (1...longestWord).contains(word.count),
            body[word.endIndex...].allSatisfy(\.isBlank), !word.elementsEqual("null".utf8)
        else { return nil }
        return String(decoding: word, as: UTF8.self)
    }

    /// Longer than the words of any format.
    private static let longestWord = 32
}

extension Answer {
    /// An answer with this body. Of a value alone no other flag may be missing: no default counts beside it.
    package init(
        body: [UInt8], alone: FlagDocument.Alone, fetchedAt: Instant
    ) throws(Failure) {
        self.init(
            body: body, flags: try FlagDocument.parse(body, alone: alone), fetchedAt: fetchedAt)
        if alone != .nothing, body.first(where: { !$0.isBlank }) != UInt8(ascii: "{") {
            unreadable.unlisted = "is missing: the answer is one value alone"
        }
    }
}

extension UInt8 {
    fileprivate var isOfWord: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
