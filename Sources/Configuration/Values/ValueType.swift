import JSON

/// The type of a key's value: how to name it in an error, how to read it, how to write it as TOML.
struct ValueType<Value> {
    /// With its article, after "expected": `a duration`.
    let expected: String
    let read: (Node.Value) throws(ValueProblem) -> Value
    /// The TOML of a value, in its shortest form.
    let write: (Value) -> String
    /// Whether requests carry it, so that it must not be sent in clear.
    var isSecret = false
}

/// Why a value cannot be read. `TableDecoder` adds the key, the table and the place.
enum ValueProblem: Error {
    /// Another type of TOML; `hint` names the text to write instead.
    case wrongType(hint: String? = nil)
    /// The right type, the wrong content: `bad NOUN 'VALUE' for …: CAUSE`.
    case bad(_ noun: String, cause: String)
    /// A word that names nothing: `unknown NOUN 'VALUE' for …; HINT`.
    case unknown(_ noun: String, hint: String?)

    /// The problem of a list with this element, which has the problem.
    func inList(of element: Node.Value) -> ValueProblem {
        switch self {
        case .bad(_, let cause): .bad("list", cause: "\(element.shown): \(cause)")
        case .wrongType(let hint), .unknown(_, let hint):
            .bad("list", cause: "\(element.shown)\(hint.map { ": \($0)" } ?? "")")
        }
    }
}

extension ValueType {
    /// A value that is written as a string: `text` is the string, and `read` reads it.
    init(
        expected: String, text: @escaping (Value) -> String,
        read: @escaping (String) throws(ValueProblem) -> Value
    ) {
        self.init(expected: expected) { value throws(ValueProblem) in
            guard case .string(let text) = value else { throw .wrongType() }
            return try read(text)
        } write: {
            text($0).tomlText
        }
    }

    /// The same type, or `word`, which is nil.
    func or(_ word: String, expected: String) -> ValueType<Value?> {
        ValueType<Value?>(expected: expected) { value throws(ValueProblem) in
            if case .string(word) = value { return nil }
            return try read(value)
        } write: {
            $0.map(write) ?? word.tomlText
        }
    }
}

extension ValueType where Value == String {
    /// A string that `check` accepts, in the form that `check` returns.
    static func string(
        expected: String = "a string",
        _ check: @escaping (String) throws(ValueProblem) -> String
    ) -> Self {
        Self(expected: expected, text: { $0 }, read: check)
    }

    /// A string that is not empty, or that is good otherwise. `noun` names it in an error: `key`.
    static func text(
        _ noun: String, expected: String = "a string", _ cause: String = "it is empty",
        where isGood: @escaping (String) -> Bool = { !$0.isEmpty }
    ) -> Self {
        .string(expected: expected) { text throws(ValueProblem) in
            guard isGood(text) else { throw .bad(noun, cause: cause) }
            return text
        }
    }
}

extension ValueType {
    /// A list of different elements. `text` writes an element, and `read` reads it. `problem` says what is wrong with
    /// a list of so many. With `isHinted` a string in its place gets a hint.
    static func list<Element: Equatable>(
        expected: String, _ text: @escaping (Element) -> String, isHinted: Bool = false,
        problem: @escaping (Int) -> String? = { _ in nil },
        _ read: @escaping (Node.Value) throws(ValueProblem) -> Element
    ) -> Self where Value == [Element] {
        Self(expected: expected) { value throws(ValueProblem) in
            guard case .array(let nodes) = value else {
                guard isHinted, case .string(let text) = value else { throw .wrongType() }
                throw .wrongType(hint: "write [\(text.tomlText)]")
            }
            if let problem = problem(nodes.count) { throw .bad("list", cause: problem) }
            var elements: [Element] = []
            for node in nodes {
                let element = try read(node.value)
                guard !elements.contains(element) else {
                    throw .bad("list", cause: "it names \(text(element).shown) twice")
                }
                elements.append(element)
            }
            return elements
        } write: {
            JSON.Value.strings($0.map(text)).toml
        }
    }
}

extension ValueType where Value == Bool {
    static var bool: Self {
        Self(expected: "true or false") { value throws(ValueProblem) in
            guard case .boolean(let bool) = value else { throw .wrongType() }
            return bool
        } write: {
            "\($0)"
        }
    }
}

extension ValueType where Value == JSON.Value {
    /// Any value that JSON has too: no date, no time, and no number that is not finite.
    static var json: Self {
        Self(expected: "a value that JSON has") { value throws(ValueProblem) in
            guard let json = value.json else { throw .wrongType(hint: "JSON has no such value") }
            return json
        } write: {
            $0.toml
        }
    }
}

extension ValueType where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    static var word: Self {
        let words = Value.allCases.map(\.rawValue)
        return Self(expected: words.alternatives, text: { $0.rawValue }) {
            text throws(ValueProblem) in
            guard let word = Value(rawValue: text) else {
                let meant = nearest(to: text, among: words).map { "; did you mean \($0.quoted)?" }
                throw .bad("value", cause: "expected \(words.alternatives)\(meant ?? "")")
            }
            return word
        }
    }
}
