/// Reads one table, key by key. An error goes to the report, and reading goes on.
struct TableReader {
    /// Such as `service.shop` or `service.shop.switch[0]`.
    let path: String
    /// The place of the table in a message: `in [service.shop]`, `at the top level`.
    let place: String
    let table: Table
    let origin: Origin

    /// The member of a key; nil without one.
    func member(_ key: some SettingKey) -> Table.Member? {
        table[key.rawValue]
    }

    /// The value of a key that has no default; nil if it is missing, or after an error.
    func optional<Value>(
        _ key: some SettingKey, _ type: ValueType<Value>, _ report: inout Report
    ) -> Value? {
        member(key).flatMap { optional($0, type, &report) }
    }

    /// The value of a member of a table with free keys; nil after an error.
    func optional<Value>(
        _ member: Table.Member, _ type: ValueType<Value>, _ report: inout Report
    ) -> Value? {
        do {
            let value = try type.read(member.node.value)
            report.record(
                "\(path).\(member.key.keyText)", type.write(value), from: member.node.origin)
            return value
        } catch {
            refuse(member, error, expecting: type.expected, &report)
            return nil
        }
    }

    /// Reports an error of a member's value.
    func refuse(
        _ member: Table.Member, _ problem: ValueProblem, expecting expected: String,
        _ report: inout Report
    ) {
        report.error(
            text(of: problem, for: member, expecting: expected), at: member.node.origin)
    }

    /// The value of a key; `fallback` if it is missing, or after an error.
    func value<Value>(
        _ key: some SettingKey, _ type: ValueType<Value>, default fallback: Value,
        _ report: inout Report
    ) -> Value {
        guard member(key) != nil else {
            report.record("\(path).\(key.rawValue)", type.write(fallback), from: nil)
            return fallback
        }
        return optional(key, type, &report) ?? fallback
    }

    /// The value of a key that must not be missing; nil after an error. `reason` ends the message about
    /// a missing key.
    func required<Value>(
        _ key: some SettingKey, _ type: ValueType<Value>, because reason: String = "",
        _ report: inout Report
    ) -> Value? {
        guard member(key) != nil else {
            report.error("missing key '\(key.rawValue)' \(place)\(reason)", at: origin)
            return nil
        }
        return optional(key, type, &report)
    }

    /// The reader of the table under a key; nil if it is missing, or after an error.
    func table(_ key: some SettingKey, _ report: inout Report) -> TableReader? {
        member(key).flatMap { reader(of: $0, &report) }
    }

    /// Reports every key that is not in `known`, with the nearest known key.
    func refuseKeys(notIn known: [String], _ report: inout Report) {
        for member in table.members where !known.contains(where: member.key.hasSameBytes) {
            let hint =
                nearest(to: member.key, among: known).map { "did you mean \($0.quoted)?" }
                ?? "known are \(known.map(\.quoted).joined(separator: ", "))"
            report.error(
                "unknown key \(member.key.quoted) \(place); \(hint)", at: member.keyOrigin)
        }
    }

    /// The members of a table of tables, such as `[source]`. Any other member is an error.
    func tables(_ report: inout Report) -> [(member: Table.Member, reader: TableReader)] {
        table.members.compactMap { member in
            guard let reader = reader(of: member, &report) else { return nil }
            return (member, reader)
        }
    }

    private func reader(of member: Table.Member, _ report: inout Report) -> TableReader? {
        let isRoot = self.path.isEmpty
        let path = isRoot ? member.key.keyText : "\(self.path).\(member.key.keyText)"
        guard case .table(let table) = member.node.value else {
            let header = isRoot ? "[\(path).NAME]" : "[\(path)]"
            refuse(member, .wrongType(), expecting: "a table \(header)", &report)
            return nil
        }
        return TableReader(
            path: path, place: "in [\(path)]", table: table, origin: member.node.origin)
    }

    private func text(
        of problem: ValueProblem, for member: Table.Member, expecting expected: String
    ) -> String {
        let setting = "\(member.key.quoted) \(place)"
        switch problem {
        case .wrongType(let hint):
            return "wrong type of \(setting): expected \(expected), found "
                + member.node.value.noun + (hint.map { "; \($0)" } ?? "")
        case .bad(let noun, let cause):
            return "bad \(noun) \(member.node.value.shown) of \(setting): \(cause)"
        case .unknown(let noun, let hint):
            return "unknown \(noun) \(member.node.value.shown) of \(setting)"
                + (hint.map { "; \($0)" } ?? "")
        }
    }
}

extension Node.Value {
    /// The value in quotes, for an error about its content.
    fileprivate var shown: String {
        switch self {
        case .string(let text): text.quoted
        case .integer(let number): "'\(number)'"
        case .float, .boolean, .date, .time, .dateTime, .array, .table: noun
        }
    }
}
