/// A value of a configuration file, and where it begins.
package struct Node: Hashable, Sendable {
    package var value: Value
    package var origin: Origin

    package init(_ value: Value, at origin: Origin) {
        self.value = value
        self.origin = origin
    }

    /// What TOML knows. No setting is a date, so those carry nothing.
    package enum Value: Hashable, Sendable {
        case string(String)
        case integer(Int64)
        case float(Double)
        case boolean(Bool)
        case date
        case time
        case dateTime
        case array([Node])
        case table(Table)
    }
}

extension Node.Value {
    /// With its article, after "found".
    var noun: String {
        switch self {
        case .string: "a string"
        case .integer: "an integer"
        case .float: "a float"
        case .boolean: "a boolean"
        case .date: "a date"
        case .time: "a time"
        case .dateTime: "a date with a time"
        case .array: "an array"
        case .table: "a table"
        }
    }
}

/// The members of a table, in the order in which the files name them.
package struct Table: Hashable, Sendable {
    /// No two have the same key.
    package var members: [Member]

    package init(_ members: [Member] = []) {
        self.members = members
    }

    /// One key of a table, where it stands, and its value.
    package struct Member: Hashable, Sendable {
        package var key: String
        package var keyOrigin: Origin
        package var node: Node

        package init(key: String, keyOrigin: Origin, node: Node) {
            self.key = key
            self.keyOrigin = keyOrigin
            self.node = node
        }
    }

    /// The member whose key has these very bytes.
    package subscript(_ key: String) -> Member? {
        members.first { $0.key.hasSameBytes(as: key) }
    }
}
