import JSON

extension ValueType where Value == JSON.Value {
    /// Anything that JSON has too: all but dates and times, and no number that is not finite.
    static var json: Self {
        Self(expected: "a value that JSON has") { value throws(ValueProblem) in
            guard let json = value.json else { throw .wrongType(hint: "JSON has no such value") }
            return json
        } write: {
            $0.toml
        }
    }
}

extension Node.Value {
    /// The same in JSON; nil where JSON has no such thing.
    var json: JSON.Value? {
        switch self {
        case .string(let text): return .string(text)
        case .integer(let number): return .number(Number(number))
        case .float(let number): return Number(number).map(JSON.Value.number)
        case .boolean(let bool): return .bool(bool)
        case .date, .time, .dateTime: return nil
        case .array(let elements):
            let values = elements.compactMap(\.value.json)
            return values.count == elements.count ? .array(values) : nil
        case .table(let table):
            var object = JSON.Object()
            for member in table.members {
                guard let value = member.node.value.json else { return nil }
                object[member.key] = value
            }
            return .object(object)
        }
    }
}

extension JSON.Value {
    /// The same in TOML, as an inline value. TOML has no null, and none comes from it.
    var toml: String {
        switch self {
        case .null: "\"\""
        case .bool(let bool): bool ? "true" : "false"
        case .number(let number): number.literal
        case .string(let text): text.tomlText
        case .array(let elements): "[\(elements.map(\.toml).joined(separator: ", "))]"
        case .object(let object):
            "{ \(object.map { "\($0.key.keyText) = \($0.value.toml)" }.joined(separator: ", ")) }"
        }
    }
}
