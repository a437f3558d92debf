/// A JSON value (RFC 8259 §3).
///
/// Two values are equal when they mean the same: strings and keys byte for byte, numbers by their
/// spelling, arrays in order, objects whatever the order of their members.
package enum Value: Sendable {
    case null
    case bool(Bool)
    case number(Number)
    case string(String)
    case array([Value])
    case object(Object)
}

extension Value {
    /// What kind of value it is, with its article, for error messages: `expected a string, not null`.
    package var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// The boolean, or nil where this is another kind of value.
    package var bool: Bool? {
        guard case .bool(let bool) = self else { return nil }
        return bool
    }

    /// The number, or nil where this is another kind of value.
    package var number: Number? {
        guard case .number(let number) = self else { return nil }
        return number
    }

    /// The string, or nil where this is another kind of value.
    package var string: String? {
        guard case .string(let string) = self else { return nil }
        return string
    }

    /// The elements, or nil where this is another kind of value.
    package var array: [Value]? {
        guard case .array(let array) = self else { return nil }
        return array
    }

    /// The object, or nil where this is another kind of value.
    package var object: Object? {
        guard case .object(let object) = self else { return nil }
        return object
    }
}
