/// A type of source as the configuration writes it: the word after `type`, the keys of its own, and
/// the addresses that stand for a table with those keys.
///
/// `all` is the table to extend when killswitchd learns to follow something else.
struct SourceType: Sendable {
    let word: String
    let keys: [String]
    /// The longest body of an answer, in bytes, where the configuration says nothing.
    var maxBody = Source.defaultMaxBody
    /// Reads the type's own keys; nil after an error.
    let read: @Sendable (TableReader, inout Report) -> Source.Kind?
    /// What an address may begin with, less the colon.
    let schemes: [String]
    /// The type's own keys as an address gives them.
    let members: @Sendable (Address) throws(ValueProblem) -> [(key: String, value: Node.Value)]

    static let all = [file, http, etcd, ofrep, firebase, firebaseServer]

    /// The keys of all types, each once.
    static var keys: [String] {
        all.flatMap(\.keys).reduce(into: []) { keys, key in
            if !keys.contains(where: key.hasSameBytes) { keys.append(key) }
        }
    }

    /// What to say where another type is asked for.
    static var follows: String { "this version follows only \(all.map(\.word).alternatives)" }
}

extension ValueType where Value == SourceType {
    /// The word of a type that this version knows.
    static var sourceType: Self {
        Self(expected: SourceType.all.map(\.word).alternatives) { value throws(ValueProblem) in
            guard case .string(let word) = value else { throw .wrongType() }
            guard let type = SourceType.all.first(where: { $0.word.hasSameBytes(as: word) }) else {
                throw .unknown("type", hint: SourceType.follows)
            }
            return type
        } write: {
            $0.word.tomlText
        }
    }
}
