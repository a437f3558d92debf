import Decision

/// The words of `format`.
package enum FormatWord: String, CaseIterable, Sendable {
    case serviceEnd = "service-end"
    case status
    case maintenance
    case switchObject = "switch"
}

extension Switch {
    /// Reads the keys of a switch; nil after an error. `service` is the name that a source gets
    /// which an address implies.
    init?(
        from reader: TableReader, of service: String, _ sources: inout SourceList,
        _ report: inout Report
    ) {
        let source = Self.source(from: reader, of: service, &sources, &report)
        let format = Self.format(from: reader, &report)
        guard let source, let format else { return nil }
        self.init(source: source, format: format)
    }

    private static func source(
        from reader: TableReader, of service: String, _ sources: inout SourceList,
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
        switch word {
        case .serviceEnd:
            let endKeys = key.map { [$0] } ?? ["service_end", "is_service_end"]
            if key == nil { record(endKeys, as: .key, of: reader, &report) }
            let countdownKey = reader.value(
                SwitchKey.countdownKey, .text("key"), default: "service_countdown", &report)
            return .serviceEnd(endKeys: endKeys, countdownKey: countdownKey)
        case .status:
            refuseCountdownKey(with: word, reader, &report)
            return .status(key.map { .member($0) } ?? .whole)
        case .switchObject:
            refuseCountdownKey(with: word, reader, &report)
            return .switchObject(key.map { .member($0) } ?? .whole)
        case .maintenance:
            refuseCountdownKey(with: word, reader, &report)
            guard let key else {
                let defaultKey = "server_maintenance_config"
                record([defaultKey], as: .key, of: reader, &report)
                return .maintenance(.memberOrWhole(defaultKey))
            }
            return .maintenance(.member(key))
        }
    }

    /// Notes the default of a key: a text, or several of which the first that is there counts.
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
