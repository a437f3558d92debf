import CivilTime
import JSON

/// A flag or a member of its object, by its type: a missing key and a wrong type are errors that name the key.
struct Flag {
    /// The key as errors name it.
    let key: String
    /// Nil if the flags lack the key.
    private let value: JSON.Value?

    /// The member `key` of an object. Errors name it with the `place` of the object before it.
    init(_ key: String, of object: JSON.Object, at place: String = "") {
        (self.key, value) = (place + key, object[key])
    }

    /// The value; throws `missing` without it.
    func required() throws(InvalidFlag) -> JSON.Value {
        guard let value else { throw .missing(key: key) }
        return value
    }

    /// The value; nil if it is left out or null.
    var optional: JSON.Value? { value.flatMap { $0 == .null ? nil : $0 } }

    /// A string; throws `missing` or `wrongType`.
    func string() throws(InvalidFlag) -> String {
        try required().typed(\.string, "a string", of: key)
    }

    /// A JSON Boolean, or a word that Remote Config reads as a Boolean, in any case of letters.
    func boolean() throws(InvalidFlag) -> Bool {
        let value = try required()
        if let bool = value.bool { return bool }
        let word = try value.typed(\.string, "a Boolean", of: key)
        switch word.lowercased() {
        case "1", "true", "t", "yes", "y", "on": return true
        case "0", "false", "f", "no", "n", "off": return false
        default: throw .unknownWord(key: key, word: word.shortened, expected: "a Boolean")
        }
    }

    /// A text that may be left out or null.
    func optionalString() throws(InvalidFlag) -> String? {
        guard let value = optional else { return nil }
        return try value.typed(\.string, "a string or null", of: key)
    }

    /// A list that may be left out or null.
    func optionalArray() throws(InvalidFlag) -> [JSON.Value]? {
        guard let value = optional else { return nil }
        return try value.typed(\.array, "an array or null", of: key)
    }

    /// A whole number that may be left out or null; `expected` names it in an error.
    func optionalInteger(expected: String = "a whole number") throws(InvalidFlag) -> Int64? {
        guard let value = optional else { return nil }
        guard let integer = value.number?.int64 else {
            throw .wrongType(key: key, expected: expected, found: value.numberOrTypeName)
        }
        return integer
    }

    /// An RFC 3339 time that may be left out or null. One before 2000 is no date (`Instant.isDate`): see `Leniency`.
    func optionalTime() throws(InvalidFlag) -> Instant? { try optional == nil ? nil : anyTime() }

    /// An RFC 3339 time; throws `missing` for one before 2000, which is no date.
    func time() throws(InvalidFlag) -> Instant {
        let time = try anyTime()
        guard time.isDate else { throw .missing(key: key) }
        return time
    }

    private func anyTime() throws(InvalidFlag) -> Instant {
        let text = try required().typed(\.string, "an RFC 3339 time", of: key)
        do {
            return try Instant(rfc3339: text)
        } catch {
            throw .unknownWord(key: key, word: text.shortened, expected: "an RFC 3339 time")
        }
    }

    /// The wait between two polls that flags ask for, in whole seconds, as a number or in a string, limited to 1 s to
    /// 1 h; nil if left out or null.
    func optionalWait() throws(InvalidFlag) -> Duration? {
        var seconds = optional?.string.flatMap { Int64($0) }
        if seconds == nil { seconds = try optionalInteger(expected: "a whole number of seconds") }
        return seconds.map { .seconds(min(max($0, 1), 3600)) }
    }

    private static func parsed(_ text: String) -> Result<JSON.Value, InvalidFlag> {
        Result { () throws(InvalidFlag) in try JSON.Value.parse(text, of: "") }
    }

    /// An object, or a string that holds one as JSON. A state word alone is an object with this `member`, nil where no
    /// word is read: as a string, or as a JSON string in a string.
    func object(ofWord member: String?) throws(InvalidFlag) -> JSON.Object {
        let value = try required()
        if let object = value.object { return object }
        let text = try value.typed(\.string, "an object", of: key)
        if let member {
            var word = text
            if text.hasPrefix("\""), case .success(let parsed) = Self.parsed(text) {
                word = parsed.string ?? text
            }
            if let state = State(rawValue: word), state != .undecided {
                return [member: .string(word)]
            }
        }
        if member != nil, key == FlagDocument.wholeKey, !text.utf8.contains(UInt8(ascii: "{")) {
            throw .unknownWord(key: key, word: text.shortened, expected: State.expectedWords)
        }
        let parsed = try JSON.Value.parse(text, of: key)
        guard let object = parsed.object else {
            throw .wrongType(
                key: key, expected: "an object", found: "\(parsed.typeName) in a string")
        }
        return object
    }
}

extension JSON.Value {
    /// The content of a flag's value by one type, such as `\.string`. Throws `wrongType`, with the `expected` type.
    func typed<Content>(
        _ content: (JSON.Value) -> Content?, _ expected: String, of key: String
    ) throws(InvalidFlag) -> Content {
        guard let content = content(self) else {
            throw .wrongType(key: key, expected: expected, found: typeName)
        }
        return content
    }

    /// The JSON in the string of a flag.
    static func parse(_ text: String, of key: String) throws(InvalidFlag) -> JSON.Value {
        do {
            return try parse(Array(text.utf8))
        } catch {
            throw .notJSON(key: key, cause: "\(error)")
        }
    }

    /// The number itself, or the name of another type: for an error about the wrong number.
    var numberOrTypeName: String { number.map { "the number \(quoted($0.literal))" } ?? typeName }
}

/// Why a format could not read its flags. That is not an order: the last good flags stay in force.
package enum InvalidFlag: Error, Hashable, Sendable, CustomStringConvertible {
    case missing(key: String)
    /// The source has the flag and could not give it. The cause is the end of the sentence.
    case unreadable(key: String, cause: String)
    case wrongType(key: String, expected: String, found: String)
    case unknownWord(key: String, word: String, expected: String)
    case notJSON(key: String, cause: String)
    /// The flag is over a limit: it has `count` of what is limited.
    case tooLarge(key: String, count: Int, FlagLimit)
    /// The answer holds no flags: it is empty, a web page or broken JSON. The clause tells which.
    case notFlags(String)
    /// The answer is a document that is refused for its signatures, or for what it says of itself.
    case refused(Reason.Slug, String)

    /// An answer without flags that failed so.
    package init(_ failure: Failure) {
        self =
            failure.refusal.map { .refused($0.slug, failure.detail) } ?? .notFlags(failure.detail)
    }

    /// Whether the answer holds no flags at all: then it is a problem of its source.
    var isOfSource: Bool { kind == .notFlags || kind == .refused }

    /// What is wrong, without the texts of the flags.
    package enum Kind: Hashable, Sendable {
        case missing, unreadable, wrongType, unknownWord, notJSON, tooLarge, notFlags, refused
    }

    package var kind: Kind {
        switch self {
        case .missing: .missing
        case .unreadable: .unreadable
        case .wrongType: .wrongType
        case .unknownWord: .unknownWord
        case .notJSON: .notJSON
        case .tooLarge: .tooLarge
        case .notFlags: .notFlags
        case .refused: .refused
        }
    }

    package var description: String {
        switch self {
        case .missing(FlagDocument.wholeKey):
            "the answer is not one value alone, and the format has no 'key' of it"
        case .missing(let key): "key \(quoted(key)) is missing"
        case .unreadable(let key, let cause): "\(Self.subject(key)) \(cause)"
        case .wrongType(let key, let expected, let found):
            "\(Self.subject(key)) is \(found), not \(expected)"
        case .unknownWord(let key, let word, let expected):
            "\(Self.subject(key)) is \(quoted(word)), not \(expected)"
        case .notJSON(let key, let cause): "\(Self.subject(key)) holds no valid JSON: \(cause)"
        case .tooLarge(let key, let count, let limit):
            "\(Self.subject(key)) \(limit.clause(of: count))"
        case .notFlags(let clause), .refused(_, let clause): clause
        }
    }

    private static func subject(_ key: String) -> String {
        key == FlagDocument.wholeKey ? "the answer" : "key \(quoted(key))"
    }
}

extension String {
    /// As much of a foreign text as an error shows: what keeps the error keeps no large answer.
    var shortened: String {
        utf8.count <= 256 ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(64)))
    }
}

extension StringProtocol {
    /// Compares the bytes: Swift's `==` would be canonical equivalence.
    func isSame(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
}

/// Foreign text for a message: in single quotes, at most 60 characters, without control characters.
package func quoted(_ text: String) -> String { "'\(text.printable(limit: 60))'" }

extension [String] {
    /// These, which are the first of `total`, and `3 more` for the rest.
    package func andMore(of total: Int) -> [String] {
        count < total ? self + ["\(total - count) more"] : self
    }
}

/// How much of something an answer may hold: it bounds the time, memory and files of the services that read it.
package enum FlagLimit: CaseIterable, Sendable {
    case windows, steps, title, message, version
    case value
    /// All remote values of a service.
    case values

    /// The highest number that is allowed.
    package var count: Int {
        switch self {
        case .windows, .steps: 64
        case .title: 200
        case .message: 4000
        case .version: 256
        case .value: 16 << 10
        case .values: 64 << 10
        }
    }

    /// Throws for a flag that has more.
    func check(_ count: Int, of key: String) throws(InvalidFlag) {
        if count > self.count { throw .tooLarge(key: key, count: count, self) }
    }

    /// Why so many are too many: the end of a sentence that begins with the key.
    func clause(of count: Int) -> String {
        switch self {
        case .windows: "has \(count) windows, and at most \(self.count) are read"
        case .steps: "has \(count) steps, and at most \(self.count) are read"
        case .title, .message: "has \(count) characters, and at most \(self.count) are read"
        case .version, .value: "has \(count) bytes, and at most \(self.count) are read"
        case .values:
            "makes the values of the service \(count) bytes long, and at most \(self.count) are read"
        }
    }
}
