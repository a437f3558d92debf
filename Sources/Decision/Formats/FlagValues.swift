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

    /// The string of a key; throws `missing` or `wrongType`.
    func string(_ key: String) throws(InvalidFlag) -> String {
        let value = try required(key)
        guard case .string(let text) = value else {
            throw .wrongType(key: key, expected: "a string", found: value.typeName)
        }
        return text
    }

    /// A JSON Boolean, or one of the words that Remote Config reads as a Boolean, in any case of
    /// letters.
    func boolean(_ key: String) throws(InvalidFlag) -> Bool {
        switch try required(key) {
        case .bool(let value):
            return value
        case .string(let word):
            switch word.lowercased() {
            case "1", "true", "t", "yes", "y", "on": return true
            case "0", "false", "f", "no", "n", "off": return false
            default: throw .unknownWord(key: key, word: word, expected: "a Boolean")
            }
        case let other:
            throw .wrongType(key: key, expected: "a Boolean", found: other.typeName)
        }
    }

    /// A text that may be left out or null.
    func optionalString(_ key: String) throws(InvalidFlag) -> String? {
        switch self[key] {
        case nil, .null: return nil
        case .string(let text): return text
        case .some(let other):
            throw .wrongType(key: key, expected: "a string or null", found: other.typeName)
        }
    }

    /// A whole number of seconds that may be left out or null.
    func optionalSeconds(_ key: String) throws(InvalidFlag) -> Duration? {
        switch self[key] {
        case nil, .null:
            return nil
        case .number(let number):
            guard let seconds = number.int64 else {
                throw .wrongType(
                    key: key, expected: "a whole number of seconds",
                    found: "the number \(quoted(number.literal))")
            }
            return .seconds(seconds)
        case .some(let other):
            throw .wrongType(
                key: key, expected: "a whole number of seconds", found: other.typeName)
        }
    }

    private func object(in key: String) throws(InvalidFlag) -> JSON.Object {
        switch try required(key) {
        case .object(let object):
            return object
        case .string(let text):
            return try Self.object(parsing: text, of: key)
        case let other:
            throw .wrongType(key: key, expected: "an object", found: other.typeName)
        }
    }

    private static func object(
        parsing text: String, of key: String
    ) throws(InvalidFlag) -> JSON.Object {
        let value: JSON.Value
        do {
            value = try JSON.Value.parse(Array(text.utf8))
        } catch {
            throw .notJSON(key: key, cause: "\(error)")
        }
        guard case .object(let object) = value else {
            throw .wrongType(
                key: key, expected: "an object", found: "\(value.typeName) in a string")
        }
        return object
    }
}

/// Why a format could not read its flags. An invalid answer is not an order: the last good flags
/// stay in force.
package enum InvalidFlag: Error, Hashable, Sendable {
    case missing(key: String)
    case wrongType(key: String, expected: String, found: String)
    case unknownWord(key: String, word: String, expected: String)
    case notJSON(key: String, cause: String)
    /// The answer holds no flags: it is empty, a web page or broken JSON. The clause tells which.
    case notFlags(String)
}

extension InvalidFlag: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missing(let key):
            "key \(quoted(key)) is missing"
        case .wrongType(let key, let expected, let found):
            "key \(quoted(key)) is \(found), not \(expected)"
        case .unknownWord(let key, let word, let expected):
            "key \(quoted(key)) is \(quoted(word)), not \(expected)"
        case .notJSON(let key, let cause):
            "key \(quoted(key)) holds no valid JSON: \(cause)"
        case .notFlags(let clause):
            clause
        }
    }
}

/// Foreign text for a message: in single quotes, at most 60 characters, without control characters.
package func quoted(_ text: String) -> String {
    "'\(text.printable(limit: 60))'"
}
