import Decision
import JSON

/// The words of a value's `type`.
package enum RemoteTypeWord: String, CaseIterable, Sendable {
    case string
    case integer
    case number
    case boolean
    case json

    var type: RemoteType {
        switch self {
        case .string: .string
        case .integer: .integer
        case .number: .number
        case .boolean: .boolean
        case .json: .json
        }
    }
}

extension RemoteValue {
    /// Reads `[service.NAME.variant]`; nil after an error. It goes with the source of the first of
    /// `switches`, unless it names that of another.
    init?(variantFrom reader: TableReader, of switches: [Switch], _ report: inout Report) {
        reader.refuseKeys(notIn: VariantKey.words, &report)
        let source = Self.source(VariantKey.source, from: reader, of: switches, &report)
        let key = reader.required(VariantKey.key, .text("key"), &report)
        let words = reader.required(VariantKey.map, .words, &report)
        let fallback = reader.optional(VariantKey.fallback, .variantWord, &report)
        guard let source, let key, let words, let name = ValueName("variant") else { return nil }
        self.init(
            name: name, source: source, key: key, type: .word(words),
            fallback: fallback.map { .string($0) })
    }

    /// Reads one member of `[service.NAME.values]`; nil after an error.
    init?(
        named member: Table.Member, from reader: TableReader, of switches: [Switch],
        _ report: inout Report
    ) {
        let name = ValueName(member.key)
        if name == nil {
            report.error(
                "bad name \(member.key.quoted) of a value: expected \(ValueName.rule)",
                at: member.keyOrigin)
        }
        reader.refuseKeys(notIn: ValueKey.words, &report)
        let source = Self.source(ValueKey.source, from: reader, of: switches, &report)
        let key = reader.value(ValueKey.key, .text("key"), default: member.key, &report)
        let word: RemoteTypeWord? = reader.required(ValueKey.type, .word, &report)
        let fallback = reader.optional(ValueKey.fallback, .json, &report)
        guard let name, let source, let word else { return nil }
        self.init(name: name, source: source, key: key, type: word.type, fallback: fallback)
        guard let fallback, let member = reader.member(ValueKey.fallback) else { return }
        do {
            self.fallback = try read(JSON.Object([(key, fallback)]))
        } catch {
            report.error(
                "bad default \(reader.place): expected the type '\(word.rawValue)'",
                at: member.node.origin)
        }
    }

    private static func source(
        _ key: some SettingKey, from reader: TableReader, of switches: [Switch],
        _ report: inout Report
    ) -> SourceName? {
        guard let member = reader.member(key) else { return switches.first?.source }
        guard let text = reader.optional(key, .text("source"), &report) else { return nil }
        if let used = switches.first(where: { $0.source.text == text }) { return used.source }
        var names: [String] = []
        for name in switches.map(\.source.text) where !names.contains(name) { names.append(name) }
        reader.refuse(
            member,
            .unknown("source", hint: "the switches of the service read \(names.alternatives)"),
            expecting: "", &report)
        return nil
    }
}

extension ValueType where Value == String {
    /// The word of a variant, which is part of a unit's name.
    static var variantWord: Self {
        Self(expected: "a word") { value throws(ValueProblem) in
            guard case .string(let text) = value else { throw .wrongType() }
            guard ValueName(text) != nil else {
                throw .bad("word", cause: "expected \(ValueName.rule)")
            }
            return text
        } write: {
            $0.tomlText
        }
    }
}

extension ValueType where Value == [String: String] {
    /// A table of the words of variants, by the flag.
    static var words: Self {
        Self(expected: "a table of words such as { \"1\" = \"v1\" }") {
            value throws(ValueProblem) in
            guard case .table(let table) = value else { throw .wrongType() }
            var words: [String: String] = [:]
            for member in table.members {
                words[member.key] = try ValueType<String>.variantWord.read(member.node.value)
            }
            return words
        } write: { words in
            let members = words.sorted { $0.key < $1.key }
                .map { "\($0.key.keyText) = \($0.value.tomlText)" }
            return "{ \(members.joined(separator: ", ")) }"
        }
    }
}
