package import JSON

/// A flag that a service follows besides its switches: a value of its own, or its variant. It is read from the same
/// answer as the first switch on that source, so that value and verdict never come from different snapshots.
package struct RemoteValue: Hashable, Sendable {
    package var name: ValueName
    /// One of the sources of the service's switches.
    package var source: SourceName
    package var key: String
    package var type: RemoteType
    /// The value without flags, and if the flags lack the key; nil is no default.
    package var fallback: JSON.Value?

    /// A value of `type` that `key` of `source` holds.
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

    /// The value in `flags`, else the default. Throws without either, for a wrong type and for too large a value.
    package func read(_ flags: JSON.Object) throws(InvalidFlag) -> JSON.Value {
        guard let value = flags[key] else {
            guard let fallback else { throw .missing(key: key) }
            return fallback
        }
        if let text = value.string ?? value.number?.literal {
            // Before it is read: many services may read a large one.
            try FlagLimit.value.check(text.utf8.count, of: key)
        }
        switch type {
        case .string: return .string(try Flag(key, of: flags).string())
        case .boolean: return .bool(try Flag(key, of: flags).boolean())
        case .integer: return .number(try number(value, "an integer") { $0.int64 != nil })
        case .number: return .number(try number(value, "a number") { $0.double != nil })
        case .json:
            guard let text = value.string else {
                try FlagLimit.value.check(value.size, of: key)
                return value
            }
            return try JSON.Value.parse(text, of: key)
        case .word(let words): return try word(value, among: words)
        }
    }

    /// A number, or a string that holds a number: Remote Config and etcd know strings alone.
    private func number(
        _ value: JSON.Value, _ expected: String, _ fits: (Number) -> Bool
    ) throws(InvalidFlag) -> Number {
        if let text = value.string {
            guard let number = Number(literal: text), fits(number) else {
                throw .unknownWord(key: key, word: text.shortened, expected: expected)
            }
            return number
        }
        guard let number = value.number, fits(number) else {
            throw .wrongType(key: key, expected: expected, found: value.numberOrTypeName)
        }
        return number
    }

    /// The word of the map for this flag; the default if the map lacks the flag.
    private func word(
        _ value: JSON.Value, among words: [String: String]
    ) throws(InvalidFlag) -> JSON.Value {
        let flag = value.string ?? value.number?.literal ?? value.bool.map { "\($0)" }
        guard let flag else {
            throw .wrongType(
                key: key, expected: "a string, a number or a boolean", found: value.typeName)
        }
        guard let word = words[flag].map(JSON.Value.string) ?? fallback else {
            throw .unknownWord(key: key, word: flag.shortened, expected: "in the map")
        }
        return word
    }
}

extension JSON.Value {
    /// How many bytes it has as the value of a service: a text as it is, others as JSON.
    var size: Int {
        switch self {
        case .null: 0
        case .bool: 5
        case .string(let text): text.utf8.count
        case .number(let number): number.literal.utf8.count
        case .array, .object: serializedBytes().count
        }
    }
}

/// The type of a remote value.
package enum RemoteType: Hashable, Sendable {
    case string
    case integer
    case number
    case boolean
    /// Any JSON value; a string is read as JSON.
    case json
    /// A variant: the map's word for the flag.
    case word([String: String])
}

/// Marks the names of remote values.
package enum ValueTag {}

/// The name of a remote value. In `state.env` it is in capitals, with `_` for `-`.
package typealias ValueName = Name<ValueTag>
