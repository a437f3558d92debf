import Decision
import SourceSettings

/// Reads one table, key by key. An error goes to the report, and reading goes on.
struct TableDecoder {
    /// Such as `service.shop` or `service.shop.switch[0]`.
    let path: String
    /// The place of the table in a message: `in [service.shop]`, `at the top level`.
    let place: String
    let table: Table
    let origin: Origin
    /// Takes the errors, the warnings and the settings in force of this table.
    var report: Diagnostics
    /// The end of the message about a missing key: `, which type 'http' needs`.
    var need = ""

    /// The member of a key; nil without one.
    func member(_ key: some SettingKey) -> Table.Member? { table[key.rawValue] }

    /// The value of a key that has no default; nil if it is missing, or after an error.
    func optional<Value>(_ key: some SettingKey, _ type: ValueType<Value>) -> Value? {
        member(key).flatMap { optional($0, type) }
    }

    /// The value of a member of a table with free keys; nil after an error.
    func optional<Value>(_ member: Table.Member, _ type: ValueType<Value>) -> Value? {
        if type.isSecret { report.record(secret: member, of: path) }
        do {
            let value = try type.read(member.node.value)
            let key = member.key.keyText
            report.record("\(path).\(key)", type.write(value), from: member.node.origin)
            return value
        } catch {
            refuse(member, error, expecting: type.expected)
            return nil
        }
    }

    /// The value of a key; `fallback` if it is missing, or after an error.
    func value<Value>(
        _ key: some SettingKey, _ type: ValueType<Value>, default fallback: Value
    ) -> Value {
        guard let member = member(key) else {
            report.record("\(path).\(key.rawValue)", type.write(fallback), from: nil)
            return fallback
        }
        return optional(member, type) ?? fallback
    }

    /// The value of a key that must not be missing; nil after an error.
    func required<Value>(_ key: some SettingKey, _ type: ValueType<Value>) -> Value? {
        guard let member = member(key) else {
            report.error("missing key '\(key.rawValue)' \(place)\(need)", at: origin)
            return nil
        }
        return optional(member, type)
    }

    /// Reports a key that stands without another key that it needs.
    func require(_ other: some SettingKey, _ article: String = "", beside key: some SettingKey) {
        guard let member = member(key), self.member(other) == nil else { return }
        report.error(
            "'\(key.rawValue)' \(place) needs \(article)'\(other.rawValue)' beside it",
            at: member.keyOrigin)
    }

    /// The name that the key of a table is; nil after an error. `thing` has that name: `a source`.
    func name<Thing>(_ member: Table.Member, of thing: String) -> Name<Thing>? {
        let name = Name<Thing>(member.key)
        if name == nil {
            report.error(
                "bad name \(member.key.shown) of \(thing): expected \(Name<Thing>.rule)",
                at: member.keyOrigin)
        }
        return name
    }

    /// The reader of the table under a key; nil if it is missing, or after an error.
    func table(_ key: some SettingKey) -> TableDecoder? { member(key).flatMap(reader) }

    /// The members of a table of tables, such as `[source]`. Any other member is an error.
    func tables() -> [(member: Table.Member, reader: TableDecoder)] {
        table.members.compactMap { member in reader(of: member).map { (member, $0) } }
    }

    /// Reports every key that is not in `known`, with the nearest known key, or its own one of `hints`.
    func refuseKeys(notIn known: [String], hints: [String: String] = [:]) {
        for member in table.members where !known.contains(where: member.key.hasSameBytes) {
            let hint =
                hints[member.key] ?? nearest(to: member.key, among: known).map {
                    "did you mean \($0.quoted)?"
                }
                ?? "known are \(known.map(\.quoted).joined(separator: ", "))"
            report.error("unknown key \(member.key.shown) \(place); \(hint)", at: member.keyOrigin)
        }
    }

    /// Reports an error of a member's value. `expected` names its type with the article.
    func refuse(_ member: Table.Member, _ problem: ValueProblem, expecting expected: String) {
        let value = member.node.value
        let setting = "\(member.key.shown) \(place)"
        let text =
            switch problem {
            case .wrongType(let hint):
                "wrong type for \(setting): expected \(expected), found \(value.noun)"
                    + (hint.map { "; \($0)" } ?? "")
            case .bad(let noun, let cause):
                // A list is not repeated: the cause names the element.
                "bad \(noun)\(value.isArray ? "" : " \(value.shown)") for \(setting): \(cause)"
            case .unknown(let noun, let hint):
                "unknown \(noun) \(value.shown) for \(setting)" + (hint.map { "; \($0)" } ?? "")
            }
        report.error(text, at: member.node.origin)
    }

    private func reader(of member: Table.Member) -> TableDecoder? {
        let isRoot = self.path.isEmpty
        let key = member.key.withoutSecrets.keyText
        let path = isRoot ? key : "\(self.path).\(key)"
        guard case .table(let table) = member.node.value else {
            let header = isRoot ? "[\(path).NAME]" : "[\(path)]"
            refuse(member, .wrongType(), expecting: "a table \(header)")
            return nil
        }
        return TableDecoder(
            path: path, place: "in [\(path)]", table: table, origin: member.node.origin,
            report: report)
    }
}

extension Node.Value {
    /// The value in quotes, for an error about its content.
    var shown: String {
        switch self {
        case .string(let text): text.shown
        case .integer(let number): "'\(number)'"
        case .float, .boolean, .date, .time, .dateTime, .array, .table: noun
        }
    }

    fileprivate var isArray: Bool { if case .array = self { true } else { false } }
}
