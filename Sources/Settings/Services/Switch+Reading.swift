package import Decision

/// The keys of a `[[service.NAME.switch]]`, or of a `[service.NAME]` with one switch.
package enum SwitchKey: String, SettingKey {
    case source
    case format
    case key
    case countdownKey = "countdown_key"
}

/// The words of `format`.
package enum FormatWord: String, CaseIterable, Sendable {
    case serviceEnd = "service-end"
    case status
    case maintenance
    case switchObject = "switch"

    static let endKeys = ["service_end", "is_service_end"]
    static let countdownKey = "service_countdown"
    static let maintenanceKey = "server_maintenance_config"

    /// The format with these keys; nil stands for the default key.
    package func format(key: String?, countdownKey: String?) -> Format {
        switch self {
        case .serviceEnd:
            .serviceEnd(
                endKeys: key.map { [$0] } ?? Self.endKeys,
                countdownKey: countdownKey ?? Self.countdownKey)
        case .status: .status(key.map { .member($0) } ?? .whole)
        case .maintenance:
            .maintenance(key.map { .member($0) } ?? .memberOrWhole(Self.maintenanceKey))
        case .switchObject: .switchObject(key.map { .member($0) } ?? .whole)
        }
    }
}

extension Switch {
    /// Reads the keys of a switch; nil after an error. A source that an address implies is named after
    /// `service`.
    init?(
        from reader: TableReader, of service: String, _ sources: inout ConfiguredSources,
        _ report: inout Report
    ) {
        let source = Self.source(from: reader, of: service, &sources, &report)
        let format = Self.format(from: reader, &report)
        guard let source, let format else { return nil }
        self.init(source: source, format: format)
    }

    private static func source(
        from reader: TableReader, of service: String, _ sources: inout ConfiguredSources,
        _ report: inout Report
    ) -> SourceName? {
        let key = SwitchKey.source
        let type = ValueType<String>.text("source")
        guard let text = reader.required(key, type, &report), let member = reader.member(key) else {
            return nil
        }
        do {
            return try sources.name(of: text, at: member.node.origin, for: service, &report)
        } catch {
            reader.refuse(member, error, expecting: type.expected, &report)
            return nil
        }
    }

    private static func format(from reader: TableReader, _ report: inout Report) -> Format? {
        let word: FormatWord? = reader.required(SwitchKey.format, .word, &report)
        let key = reader.optional(SwitchKey.key, .text("key"), &report)
        guard let word else {
            _ = reader.optional(SwitchKey.countdownKey, .text("key"), &report)
            return nil
        }
        let countdownKey: String?
        if word == .serviceEnd {
            if key == nil { record(FormatWord.endKeys, as: .key, of: reader, &report) }
            countdownKey = reader.value(
                SwitchKey.countdownKey, .text("key"), default: FormatWord.countdownKey, &report)
        } else {
            countdownKey = nil
            refuseCountdownKey(with: word, reader, &report)
            if word == .maintenance, key == nil {
                record([FormatWord.maintenanceKey], as: .key, of: reader, &report)
            }
        }
        return word.format(key: key, countdownKey: countdownKey)
    }

    /// Records the default of a key: one text, or several of which the first that the flags hold counts.
    private static func record(
        _ words: [String], as key: SwitchKey, of reader: TableReader, _ report: inout Report
    ) {
        guard reader.member(key) == nil else { return }
        let texts = words.map(\.tomlText).joined(separator: ", ")
        report.record(
            "\(reader.path).\(key.rawValue)", words.count == 1 ? texts : "[\(texts)]", from: nil)
    }

    private static func refuseCountdownKey(
        with word: FormatWord, _ reader: TableReader, _ report: inout Report
    ) {
        guard let member = reader.member(SwitchKey.countdownKey) else { return }
        report.error(
            "key '\(member.key)' \(reader.place) belongs to format "
                + "'\(FormatWord.serviceEnd.rawValue)', not to '\(word.rawValue)'",
            at: member.keyOrigin)
    }
}
