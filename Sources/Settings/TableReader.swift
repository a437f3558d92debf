/// Reads one table, key by key. What is wrong goes to the report, and reading goes on.
struct TableReader {
    /// Such as `service.shop` or `service.shop.switch[0]`.
    let path: String
    /// Where it is, for sentences: `in [service.shop]`, `at the top level`.
    let place: String
    let table: Table
    let origin: Origin

    /// The member of a key, or nil where the key is not written.
    func member(_ key: some SettingKey) -> Table.Member? {
        table[key.rawValue]
    }

    /// The value of a key that has no default; nil where it is not written or cannot be read.
    func optional<Value>(
        _ key: some SettingKey, _ type: ValueType<Value>, _ report: inout Report
    ) -> Value? {
        member(key).flatMap { optional($0, type, &report) }
    }

    /// The value of a member whatever its key is, as in a table of free keys.
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

    /// Reports what is wrong with a member's value.
    func refuse(
        _ member: Table.Member, _ problem: ValueProblem, expecting expected: String,
        _ report: inout Report
    ) {
        report.error(
            text(of: problem, for: member, expecting: expected), at: member.node.origin)
    }

    /// The value of a key, or its default where it is not written or cannot be read.
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

    /// The value of a key that must be written; nil where it cannot be read. `reason` is for the
    /// error, after the table.
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

    /// The reader of a key that holds a table; nil where it is not written or no table.
    func table(_ key: some SettingKey, _ report: inout Report) -> TableReader? {
        member(key).flatMap { reader(of: $0, &report) }
    }

    /// Every key that is not among `known` is an error, with the nearest one that is.
    func refuseKeys(notIn known: [String], _ report: inout Report) {
        for member in table.members where !known.contains(where: member.key.hasSameBytes) {
            let hint =
                nearest(to: member.key, among: known).map { "did you mean \($0.quoted)?" }
                ?? "known are \(known.map(\.quoted).joined(separator: ", "))"
            report.error(
                "unknown key \(member.key.quoted) \(place); \(hint)", at: member.keyOrigin)
        }
    }

    /// The members of a table of tables, such as `[source]`; what is not a table is an error.
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
    /// The value in quotes, for an error that is about its content.
    fileprivate var shown: String {
        switch self {
        case .string(let text): text.quoted
        case .integer(let number): "'\(number)'"
        case .float, .boolean, .date, .time, .dateTime, .array, .table: noun
        }
    }
}
