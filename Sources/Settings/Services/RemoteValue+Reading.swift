import Decision
import JSON

/// The keys of `[service.NAME.variant]`.
package enum VariantKey: String, SettingKey {
    case source
    case key
    case map
    case fallback = "default"
}

/// The keys of each member of `[service.NAME.values]`.
package enum ValueKey: String, SettingKey {
    case source
    case key
    case type
    case fallback = "default"
}

/// The words for `type` of a value.
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
    /// Reads `[service.NAME.variant]`; nil after an error. Its source is that of the first of `switches`
    /// unless it names the source of another.
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
    /// The word of a variant, which becomes part of a unit's name.
    static var variantWord: Self {
        .string(expected: "a word") { text throws(ValueProblem) in
            guard ValueName(text) != nil else {
                throw .bad("word", cause: "expected \(ValueName.rule)")
            }
            return text
        }
    }
}

extension ValueType where Value == [String: String] {
    /// A table from flag values to words of variants.
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

extension Service {
    /// Reads `variant`, `values`, `activation`, and the two keys of the installed version.
    mutating func readValues(from reader: TableReader, _ report: inout Report) {
        if let table = reader.table(ServiceKey.variant, &report) {
            variant = RemoteValue(variantFrom: table, of: switches, &report)
        }
        if let table = reader.table(ServiceKey.values, &report) {
            var spellings: [String: String] = [:]
            for (member, reader) in table.tables(&report) {
                let value = RemoteValue(named: member, from: reader, of: switches, &report)
                guard let value else { continue }
                values.append(value)
                // state.env writes '-' as '_'.
                let spelling = String(member.key.map { $0 == "-" ? "_" : $0 })
                if let other = spellings.updateValue(member.key, forKey: spelling) {
                    report.error(
                        "values '\(other)' and '\(member.key)' \(table.place) are the same variable "
                            + "of state.env",
                        at: member.keyOrigin)
                }
            }
        }
        activation = reader.value(
            ServiceKey.activation, .word, default: Activation.immediate, &report)
        installed = Self.installed(from: reader, &report)
    }

    private static func installed(
        from reader: TableReader, _ report: inout Report
    ) -> InstalledVersion? {
        let text = reader.optional(ServiceKey.installedVersion, .text("version"), &report)
        let folder = reader.member(ServiceKey.installedVersionFile)?.node.origin.file ?? ""
        let path = reader.optional(
            ServiceKey.installedVersionFile, .path(namedIn: folder), &report)
        if let member = reader.member(ServiceKey.installedVersionFile), text != nil {
            report.error(
                "both 'installed_version' and '\(member.key)' \(reader.place): keep one of the two",
                at: member.keyOrigin)
        }
        if let path { return .file(path) }
        return text.flatMap { Version($0) }.map(InstalledVersion.version)
    }
}
