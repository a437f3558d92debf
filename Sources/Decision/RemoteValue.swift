package import JSON

/// A flag that a service follows besides its switches: a value of its own, or its variant.
///
/// It is read from the very answer that the first of the service's switches on that source rests on,
/// so that it never tells of another moment than the verdict.
package struct RemoteValue: Hashable, Sendable {
    package var name: ValueName
    /// One of the sources of the service's switches.
    package var source: SourceName
    package var key: String
    package var type: RemoteType
    /// What it is where the flags do not have the key, and before there are any.
    package var fallback: JSON.Value?

    package init(
        name: ValueName, source: SourceName, key: String, type: RemoteType,
        fallback: JSON.Value? = nil
    ) {
        self.name = name
        self.source = source
        self.key = key
        self.type = type
        self.fallback = fallback
    }

    /// What the flags say. A missing key is the default, where there is one.
    package func read(_ flags: JSON.Object) throws(InvalidFlag) -> JSON.Value {
        guard let value = flags[key] else {
            guard let fallback else { throw .missing(key: key) }
            return fallback
        }
        switch type {
        case .string: return .string(try flags.string(key))
        case .boolean: return .bool(try flags.boolean(key))
        case .integer: return .number(try Self.number(value, key, "an integer", \.isInteger))
        case .number: return .number(try Self.number(value, key, "a number", \.isFinite))
        case .json: return try Self.json(value, key)
        case .word(let words): return try word(value, among: words)
        }
    }

    /// A number, or a string that holds one: Remote Config and etcd know strings alone.
    private static func number(
        _ value: JSON.Value, _ key: String, _ expected: String, _ fits: (Number) -> Bool
    ) throws(InvalidFlag) -> Number {
        switch value {
        case .number(let number):
            guard fits(number) else {
                throw .wrongType(
                    key: key, expected: expected, found: "the number \(quoted(number.literal))")
            }
            return number
        case .string(let text):
            guard let number = Number(literal: text), fits(number) else {
                throw .unknownWord(key: key, word: text, expected: expected)
            }
            return number
        case .null, .bool, .array, .object:
            throw .wrongType(key: key, expected: expected, found: value.typeName)
        }
    }

    private static func json(_ value: JSON.Value, _ key: String) throws(InvalidFlag) -> JSON.Value {
        guard case .string(let text) = value else { return value }
        do {
            return try JSON.Value.parse(Array(text.utf8))
        } catch {
            throw .notJSON(key: key, cause: "\(error)")
        }
    }

    /// The word that the map has for this flag; for one it does not have, the default.
    private func word(
        _ value: JSON.Value, among words: [String: String]
    ) throws(InvalidFlag) -> JSON.Value {
        let flag: String
        switch value {
        case .string(let text): flag = text
        case .number(let number): flag = number.literal
        case .bool(let bool): flag = bool ? "true" : "false"
        case .null, .array, .object:
            throw .wrongType(
                key: key, expected: "a string, a number or a boolean", found: value.typeName)
        }
        if let word = words[flag] { return .string(word) }
        guard let fallback else {
            throw .unknownWord(key: key, word: flag, expected: "in the map")
        }
        return fallback
    }
}

/// What a remote value has to be.
package enum RemoteType: Hashable, Sendable {
    case string
    case integer
    case number
    case boolean
    /// Anything; a string is read as JSON.
    case json
    /// A word of this map, by the flag: a variant.
    case word([String: String])
}

package enum ValueTag {}

/// The name of a remote value. In `state.env` it is in capitals, with `_` for `-`.
package typealias ValueName = Name<ValueTag>

extension Number {
    fileprivate var isInteger: Bool { int64 != nil }
    fileprivate var isFinite: Bool { double != nil }
}
