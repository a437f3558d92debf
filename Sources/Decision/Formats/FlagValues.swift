import CivilTime
import JSON

/// Typed access to flags for every format: a missing key and a wrong type are errors that name the
/// key.
extension JSON.Object {
    /// The value of a key; throws `missing` without it.
    func required(_ key: String) throws(InvalidFlag) -> JSON.Value {
        guard let value = self[key] else { throw .missing(key: key) }
        return value
    }

    /// The object at `place`; a string there is read as JSON. If the object may stand in two
    /// places, the member `mark` tells that the flags themselves are the object.
    func object(at place: Place, mark: String) throws(InvalidFlag) -> JSON.Object {
        switch place {
        case .whole: self
        case .member(let key): try object(in: key)
        case .memberOrWhole(let key):
            self[key] == nil && self[mark] != nil ? self : try object(in: key)
        }
    }

    /// The value of a key that may be left out or null; nil then.
    func optional(_ key: String) -> JSON.Value? { self[key].flatMap { $0 == .null ? nil : $0 } }

    /// The string of a key; throws `missing` or `wrongType`.
    func string(_ key: String) throws(InvalidFlag) -> String {
        try required(key).typed(\.string, "a string", of: key)
    }

    /// A JSON Boolean, or one of the words that Remote Config reads as a Boolean, in any case of
    /// letters.
    func boolean(_ key: String) throws(InvalidFlag) -> Bool {
        let value = try required(key)
        if let bool = value.bool { return bool }
        let word = try value.typed(\.string, "a Boolean", of: key)
        switch word.lowercased() {
        case "1", "true", "t", "yes", "y", "on": return true
        case "0", "false", "f", "no", "n", "off": return false
        default: throw .unknownWord(key: key, word: word.shortened, expected: "a Boolean")
        }
    }

    /// A text that may be left out or null. An error names the key `shown`.
    func optionalString(
        _ key: String, shownAs shown: String? = nil
    ) throws(InvalidFlag) -> String? {
        guard let value = optional(key) else { return nil }
        return try value.typed(\.string, "a string or null", of: shown ?? key)
    }

    /// A title or a message for people, within its limit, that may be left out or null. An error names the key
    /// `shown`.
    func optionalText(
        _ key: String, shownAs shown: String? = nil, _ limit: FlagLimit
    ) throws(InvalidFlag) -> String? {
        let text = try optionalString(key, shownAs: shown)
        // A character takes one to four bytes.
        if let text, text.utf8.count > limit.count {
            try limit.check(text.unicodeScalars.count, of: shown ?? key)
        }
        return text
    }

    /// A whole number that may be left out or null; `expected` names it in an error.
    func optionalInteger(
        _ key: String, expected: String = "a whole number"
    ) throws(InvalidFlag) -> Int64? {
        guard let value = optional(key) else { return nil }
        guard let integer = value.number?.int64 else {
            throw .wrongType(key: key, expected: expected, found: value.numberOrTypeName)
        }
        return integer
    }

    /// An RFC 3339 time that may be left out or null.
    func optionalTime(_ key: String) throws(InvalidFlag) -> Instant? {
        try optional(key) == nil ? nil : time(key, shownAs: key)
    }

    /// An RFC 3339 time. An error names the key `shown`.
    func time(_ key: String, shownAs shown: String) throws(InvalidFlag) -> Instant {
        guard let value = self[key] else { throw .missing(key: shown) }
        let text = try value.typed(\.string, "an RFC 3339 time", of: shown)
        do {
            return try Instant(rfc3339: text)
        } catch {
            throw .unknownWord(key: shown, word: text.shortened, expected: "an RFC 3339 time")
        }
    }

    /// The wait between two polls that flags ask for, limited to 1 second to 1 hour. It is a whole
    /// number of seconds that may be left out or null.
    func optionalWait(_ key: String) throws(InvalidFlag) -> Duration? {
        try optionalInteger(key, expected: "a whole number of seconds")
            .map { .seconds(Swift.min(Swift.max($0, 1), 3600)) }
    }

    private func object(in key: String) throws(InvalidFlag) -> JSON.Object {
        let value = try required(key)
        if let object = value.object { return object }
        let text = try value.typed(\.string, "an object", of: key)
        let parsed = try JSON.Value.parse(text, of: key)
        guard let object = parsed.object else {
            throw .wrongType(
                key: key, expected: "an object", found: "\(parsed.typeName) in a string")
        }
        return object
    }
}

extension JSON.Value {
    /// The content of a flag's value by one type, such as `\.string`. Throws `wrongType` for
    /// another, with the words for the type that was expected.
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

/// Why a format could not read its flags. An invalid answer is not an order: the last good flags
/// stay in force.
package enum InvalidFlag: Error, Hashable, Sendable {
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
}

extension InvalidFlag {
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
}

extension InvalidFlag: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missing(let key): "key \(quoted(key)) is missing"
        case .unreadable(let key, let cause): "key \(quoted(key)) \(cause)"
        case .wrongType(let key, let expected, let found):
            "key \(quoted(key)) is \(found), not \(expected)"
        case .unknownWord(let key, let word, let expected):
            "key \(quoted(key)) is \(quoted(word)), not \(expected)"
        case .notJSON(let key, let cause): "key \(quoted(key)) holds no valid JSON: \(cause)"
        case .tooLarge(let key, let count, let limit):
            "key \(quoted(key)) \(limit.clause(of: count))"
        case .notFlags(let clause), .refused(_, let clause): clause
        }
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

/// How much of something an answer may hold. It bounds what the services that read an answer cost, in time, in memory
/// and in files.
package enum FlagLimit: CaseIterable, Sendable {
    case windows, steps, title, message, version
    /// One remote value.
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
