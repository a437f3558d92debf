// Values written in code: `["name": "shop", "days_left": 3, "ends_at": .null]`.

extension Value: ExpressibleByBooleanLiteral {
    package init(booleanLiteral value: Bool) {
        self = .bool(value)
    }
}

extension Value: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) {
        self = .number(Number(value))
    }
}

extension Value: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) {
        self = .string(value)
    }
}

extension Value: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: Value...) {
        self = .array(elements)
    }
}

extension Value: ExpressibleByDictionaryLiteral {
    /// An object with these members in this order. Of several with one key, the last counts.
    package init(dictionaryLiteral elements: (String, Value)...) {
        self = .object(Object(elements))
    }
}

extension Number: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) {
        self.init(value)
    }
}

extension Object: ExpressibleByDictionaryLiteral {
    /// An object with these members in this order. Of several with one key, the last counts.
    package init(dictionaryLiteral elements: (String, Value)...) {
        self.init(elements)
    }
}
