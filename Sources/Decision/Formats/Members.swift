import CivilTime
import JSON

/// The keys of a format's object: every key that the format reads, since `Members` reads no other.
protocol FormatKey: RawRepresentable, CaseIterable, Sendable where RawValue == String {}

extension FormatKey {
    /// The spellings of all keys.
    static var words: [String] { allCases.map(\.rawValue) }
}

/// An object by the keys that its format has declared.
///
/// The reader and the comparison of two answers use the same declaration. A key that was read and not declared
/// would make a change of it a repeat.
struct Members<Key: FormatKey> {
    private let object: JSON.Object

    /// The object at a place in the flags, which has the key `mark`.
    init(of flags: JSON.Object, at place: Place, mark: Key) throws(InvalidFlag) {
        object = try flags.object(at: place, mark: mark.rawValue)
    }

    func optional(_ key: Key) -> JSON.Value? { object.optional(key.rawValue) }

    func string(_ key: Key) throws(InvalidFlag) -> String { try object.string(key.rawValue) }

    func boolean(_ key: Key) throws(InvalidFlag) -> Bool { try object.boolean(key.rawValue) }

    func optionalString(_ key: Key) throws(InvalidFlag) -> String? {
        try object.optionalString(key.rawValue)
    }

    func optionalText(_ key: Key, _ limit: FlagLimit) throws(InvalidFlag) -> String? {
        try object.optionalText(key.rawValue, limit)
    }

    func optionalInteger(_ key: Key) throws(InvalidFlag) -> Int64? {
        try object.optionalInteger(key.rawValue)
    }

    func optionalTime(_ key: Key) throws(InvalidFlag) -> Instant? {
        try object.optionalTime(key.rawValue)
    }

    func optionalWait(_ key: Key) throws(InvalidFlag) -> Duration? {
        try object.optionalWait(key.rawValue)
    }
}
