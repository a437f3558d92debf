import JSON

/// A value of a configuration file, and the place where it begins.
package struct Node: Hashable, Sendable {
    package var value: Value
    package var origin: Origin

    /// The elements of an array; empty for another value.
    var elements: [Node] { if case .array(let nodes) = value { nodes } else { [] } }

    /// A value that begins at `origin`.
    package init(_ value: Value, at origin: Origin) {
        self.value = value
        self.origin = origin
    }

    /// The types of TOML. No setting is a date or a time, so dates and times carry no value.
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

        /// The type with its article, after "found".
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
}

/// A table: its members in the order of the files.
package struct Table: Hashable, Sendable {
    /// No two have the same key.
    package var members: [Member] = []

    /// A key of a table, its place, and its value.
    package struct Member: Hashable, Sendable {
        package var key: String
        package var keyOrigin: Origin
        package var node: Node
    }

    /// The member whose key has the same bytes.
    package subscript(_ key: String) -> Member? { members.first { $0.key.hasSameBytes(as: key) } }

    /// Merges a later file, whose keys and values are not checked yet: one file alone need not be complete. Tables are
    /// merged member by member; a later file replaces any other value, also an array, as a whole. A replaced member
    /// keeps its position; a new member goes to the end. Each leaf keeps its place in its file.
    /// Below a key of `sums`, arrays are added up instead.
    package mutating func merge(_ later: Table, addingUp sums: Set<String> = []) {
        merge(later) { sums.contains($0) }
    }

    private mutating func merge(_ later: Table, isSum: (String) -> Bool) {
        let keys = members.map { ExactString($0.key) }
        let indices = Dictionary(zip(keys, 0...), uniquingKeysWith: { first, _ in first })
        for member in later.members {
            guard let index = indices[ExactString(member.key)] else {
                members.append(member)
                continue
            }
            switch (members[index].node.value, member.node.value) {
            case (.table(var earlier), .table(let later)):
                let isSum = isSum(member.key)
                earlier.merge(later) { _ in isSum }
                members[index].node.value = .table(earlier)
            case (.array(let earlier), .array(let later)) where isSum(member.key):
                members[index].node.value = .array(earlier + later)
            default: members[index] = member
            }
        }
    }
}

extension Node.Value {
    /// The same value in JSON; nil if JSON has no such value.
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
    /// The same value as inline TOML. A null, which TOML does not have, becomes an empty string.
    var toml: String {
        switch self {
        case .null: "\"\""
        case .bool(let bool): bool ? "true" : "false"
        case .number(let number): number.literal
        case .string(let text): text.tomlText
        case .array(let elements): "[\(elements.map(\.toml).joined(separator: ", "))]"
        case .object(let object): object.toml
        }
    }
}

extension JSON.Object {
    var toml: String {
        "{ \(map { "\($0.key.keyText) = \($0.value.toml)" }.joined(separator: ", ")) }"
    }
}
