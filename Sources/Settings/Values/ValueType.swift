/// What the value of a key has to be: how it is read, how it is asked for, how it is written.
struct ValueType<Value> {
    /// With its article, after "expected": `a duration`.
    let expected: String
    let read: (Node.Value) throws(ValueProblem) -> Value
    /// The TOML of a value, in its shortest form.
    let write: (Value) -> String
}

/// Why a value cannot be read. The reader of the table adds the key, the table and the place.
enum ValueProblem: Error {
    /// Another type of TOML; `hint` says what to write instead.
    case wrongType(hint: String? = nil)
    /// The right type, the wrong content: `bad NOUN 'VALUE' of …: CAUSE`.
    case bad(_ noun: String, cause: String)
    /// A word that names nothing: `unknown NOUN 'VALUE' of …; HINT`.
    case unknown(_ noun: String, hint: String?)
}

extension ValueType where Value == String {
    /// A string with something in it. `noun` is what it is: `key`.
    static func text(_ noun: String) -> Self {
        Self(expected: "a string") { value throws(ValueProblem) in
            guard case .string(let text) = value else { throw .wrongType() }
            guard !text.isEmpty else { throw .bad(noun, cause: "it is empty") }
            return text
        } write: {
            $0.tomlText
        }
    }
}

extension ValueType
where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the words of an enumeration.
    static var word: Self {
        let words = Value.allCases.map(\.rawValue)
        return Self(expected: words.alternatives) { value throws(ValueProblem) in
            guard case .string(let text) = value else { throw .wrongType() }
            guard let word = Value(rawValue: text) else {
                let meant = nearest(to: text, among: words).map { "; did you mean \($0.quoted)?" }
                throw .bad("value", cause: "expected \(words.alternatives)\(meant ?? "")")
            }
            return word
        } write: {
            $0.rawValue.tomlText
        }
    }
}
