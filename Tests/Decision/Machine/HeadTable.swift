import CivilTime
import Configuration
import Decision
import Support

/// A table in the head of a transcript. It remembers which keys were read, so that a misspelled one is an error.
final class HeadTable {
    private let table: Table
    private var read: Set<String> = []

    init(_ table: Table) { self.table = table }

    func text(_ key: String) throws -> String? { try texts(key)?.first }

    /// A string, or a list of strings.
    func texts(_ key: String) throws -> [String]? {
        try value(key, "a string") { value in
            if case .array(let nodes) = value { return nodes.compactMap { Self.text($0.value) } }
            return Self.text(value).map { [$0] }
        }
    }

    private static func text(_ value: Node.Value) -> String? {
        if case .string(let text) = value { text } else { nil }
    }

    func number(_ key: String) throws -> Int? {
        try value(key, "a number") {
            if case .integer(let number) = $0 { Int(number) } else { nil }
        }
    }

    func time(_ key: String) throws -> Instant? {
        try value(key, "a time") { Self.text($0).flatMap { try? Instant(rfc3339: $0) } }
    }

    /// The state under a key that must not be missing.
    func word(_ key: String) throws -> State {
        let state = try value(key, "a state") { Self.text($0).flatMap(State.init(rawValue:)) }
        guard let state else { throw TestFailure("missing key '\(key)'") }
        return state
    }

    /// The tables under a key, such as `[stored.NAME]`, in their order.
    func tables(_ key: String) throws -> [(String, HeadTable)] {
        try value(key, "a table of tables") { value in
            guard case .table(let table) = value else { return nil }
            return table.members.compactMap { member in
                guard case .table(let table) = member.node.value else { return nil }
                return (member.key, HeadTable(table))
            }
        } ?? []
    }

    /// The tables in the array under a key.
    func list(_ key: String) throws -> [HeadTable] {
        try value(key, "an array of tables") { value in
            guard case .array(let nodes) = value else { return nil }
            return nodes.compactMap { node in
                if case .table(let table) = node.value { HeadTable(table) } else { nil }
            }
        } ?? []
    }

    private func value<Value>(
        _ key: String, _ expected: String, _ convert: (Node.Value) -> Value?
    ) throws -> Value? {
        read.insert(key)
        guard let member = table[key] else { return nil }
        guard let value = convert(member.node.value) else {
            throw TestFailure("\(member.node.origin): '\(key)' is not \(expected)")
        }
        return value
    }

    /// Throws if there is a key that was not read.
    func refuseOthers() throws {
        for member in table.members where !read.contains(member.key) {
            throw TestFailure("\(member.keyOrigin): unknown key '\(member.key)'")
        }
    }
}
