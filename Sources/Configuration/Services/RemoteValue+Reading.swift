import Decision
import JSON

/// The keys of `[service.NAME.variant]`.
enum VariantKey: String, SettingKey {
    case source
    case key
    case map
    case fallback = "default"
}

/// The keys of each member of `[service.NAME.values]`.
enum ValueKey: String, SettingKey {
    case source
    case key
    case type
    case fallback = "default"
}

/// The words for `type` of a value.
enum RemoteTypeWord: String, CaseIterable {
    case string, integer, number, boolean, json

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
    init?(variantFrom reader: TableDecoder, of switches: [Switch]) {
        reader.refuseKeys(notIn: VariantKey.words)
        let source = Self.source(VariantKey.source, from: reader, of: switches)
        let key = reader.required(VariantKey.key, .text("key"))
        let words = reader.required(VariantKey.map, .words)
        let fallback = reader.optional(VariantKey.fallback, .variantWord)
        guard let source, let key, let words, let name = ValueName("variant") else { return nil }
        self.init(
            name: name, source: source, key: key, type: .word(words),
            fallback: fallback.map { .string($0) })
    }

    /// Reads one member of `[service.NAME.values]`; nil after an error.
    init?(named member: Table.Member, from reader: TableDecoder, of switches: [Switch]) {
        let name: ValueName? = reader.name(member, of: "a value")
        reader.refuseKeys(notIn: ValueKey.words)
        let source = Self.source(ValueKey.source, from: reader, of: switches)
        let key = reader.value(ValueKey.key, .text("key"), default: member.key)
        let word: RemoteTypeWord? = reader.required(ValueKey.type, .word)
        let fallback = reader.optional(ValueKey.fallback, .json)
        guard let name, let source, let word else { return nil }
        self.init(name: name, source: source, key: key, type: word.type, fallback: fallback)
        guard let fallback, let member = reader.member(ValueKey.fallback) else { return }
        do {
            self.fallback = try read([key: fallback])
        } catch {
            reader.report.error(
                "bad default \(reader.place): expected the type '\(word.rawValue)'",
                at: member.node.origin)
        }
    }

    private static func source(
        _ key: some SettingKey, from reader: TableDecoder, of switches: [Switch]
    ) -> SourceName? {
        guard reader.member(key) != nil else { return switches.first?.source }
        return reader.optional(key, .source(of: switches))
    }
}

extension ValueType where Value == SourceName {
    /// A source that one of `switches` reads.
    fileprivate static func source(of switches: [Switch]) -> Self {
        Self(expected: "a string", text: { $0.text }) { text throws(ValueProblem) in
            guard !text.isEmpty else { throw .bad("source", cause: "it is empty") }
            let sources = switches.map(\.source)
            if let source = sources.first(where: { $0.text == text }) { return source }
            let names = sources.map(\.text).eachOnce.alternatives
            throw .unknown("source", hint: "the switches of the service read \(names)")
        }
    }
}

extension ValueType where Value == String {
    /// The word of a variant, which becomes part of a unit's name.
    fileprivate static var variantWord: Self {
        .text("word", expected: "a word", "expected \(ValueName.rule)") { ValueName($0) != nil }
    }
}

extension ValueType where Value == [String: String] {
    /// A table from flag values to words of variants.
    fileprivate static var words: Self {
        Self(expected: "a table of words such as { \"1\" = \"v1\" }") {
            value throws(ValueProblem) in
            guard case .table(let table) = value else { throw .wrongType() }
            var words: [String: String] = [:]
            for member in table.members {
                words[member.key] = try ValueType<String>.variantWord.read(member.node.value)
            }
            return words
        } write: { words in
            JSON.Object(words.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }).toml
        }
    }
}

extension Service {
    /// Reads `variant`, `values`, `activation`, and the two keys of the installed version.
    mutating func readValues(from reader: TableDecoder) {
        if let table = reader.table(ServiceKey.variant) {
            variant = RemoteValue(variantFrom: table, of: switches)
        }
        if let table = reader.table(ServiceKey.values) { readValues(in: table) }
        activation = reader.value(ServiceKey.activation, .word, default: activation)
        installed = Self.installed(from: reader)
    }

    /// Reads `[service.NAME.values]`.
    private mutating func readValues(in table: TableDecoder) {
        var spellings: [String: String] = [:]
        for (member, reader) in table.tables() {
            guard let value = RemoteValue(named: member, from: reader, of: switches) else {
                continue
            }
            values.append(value)
            // state.env writes '-' as '_'.
            let spelling = String(member.key.map { $0 == "-" ? "_" : $0 })
            if let other = spellings.updateValue(member.key, forKey: spelling) {
                table.report.error(
                    "values '\(other)' and '\(member.key)' \(table.place) are the same variable "
                        + "of state.env",
                    at: member.keyOrigin)
            }
        }
    }

    private static func installed(from reader: TableDecoder) -> InstalledVersion? {
        let text = reader.optional(ServiceKey.installedVersion, .text("version"))
        guard let file = reader.member(ServiceKey.installedVersionFile) else {
            return text.flatMap { Version($0) }.map(InstalledVersion.version)
        }
        if text != nil {
            reader.report.error(
                "both 'installed_version' and '\(file.key)' \(reader.place): keep one of the two",
                at: file.keyOrigin)
        }
        return reader.optional(file, .path(namedIn: file.node.origin.file))
            .map(InstalledVersion.file)
    }
}
