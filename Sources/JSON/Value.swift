/// A JSON value (RFC 8259 §3). Two values are equal if strings and keys agree byte for byte, numbers are spelled alike
/// and arrays have the same order. The order of an object's members does not matter.
package enum Value: Sendable {
    case null
    case bool(Bool)
    case number(Number)
    case string(String)
    case array([Value])
    case object(Object)

    /// A string, or null for nil.
    package static func optional(_ text: String?) -> Value { text.map(Value.string) ?? .null }

    /// An integer, or null for nil.
    package static func optional(_ number: Int64?) -> Value {
        number.map { .number(Number($0)) } ?? .null
    }

    /// An array of strings.
    package static func strings(_ texts: [String]) -> Value { .array(texts.map(Value.string)) }

    package static func objects(_ objects: [Object]) -> Value { .array(objects.map(Value.object)) }

    /// A string without quotes, other values as compact JSON; nil for null.
    package var bare: String? {
        switch self {
        case .null: nil
        case .string(let text): text
        case .bool, .number, .array, .object: serialized(.compact)
        }
    }

    /// The type of the value with its article, for error messages: `expected a string, not null`.
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

    // The content, or nil if the value has another type.

    package var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }

    package var number: Number? { if case .number(let number) = self { number } else { nil } }

    package var string: String? { if case .string(let string) = self { string } else { nil } }

    package var array: [Value]? { if case .array(let array) = self { array } else { nil } }

    package var object: Object? { if case .object(let object) = self { object } else { nil } }
}

extension Value: Hashable {
    package static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): ExactString(left) == ExactString(right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        case (.null, _), (.bool, _), (.number, _), (.string, _), (.array, _), (.object, _): false
        }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(typeName)
        switch self {
        case .null: break
        case .bool(let bool): hasher.combine(bool)
        case .number(let number): hasher.combine(number)
        case .string(let string): hasher.combine(ExactString(string))
        case .array(let array): hasher.combine(array)
        case .object(let object): hasher.combine(object)
        }
    }
}

// Literals in code: `["name": "shop", "days_left": 3, "ends_at": .null]`.
extension Value: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(booleanLiteral value: Bool) { self = .bool(value) }

    package init(integerLiteral value: Int64) { self = .number(Number(value)) }

    package init(stringLiteral value: String) { self = .string(value) }

    package init(arrayLiteral elements: Value...) { self = .array(elements) }

    package init(dictionaryLiteral elements: (String, Value)...) {
        self = .object(Object(elements))
    }
}
