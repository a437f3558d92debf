package import Decision
import JSON
import SourceSettings

/// The keys of a `[[service.NAME.switch]]`, or of a `[service.NAME]` with one switch.
enum SwitchKey: String, SettingKey {
    case source
    case format
    case key
    case countdownKey = "countdown_key"
    case closedWhen = "closed_when"
    case closedState = "closed_state"

    /// The one format that reads the key; nil for all.
    fileprivate var format: FormatWord? {
        switch self {
        case .source, .format, .key: nil
        case .countdownKey: .serviceEnd
        case .closedWhen, .closedState: .boolean
        }
    }
}

/// The words of `format`.
package enum FormatWord: String, CaseIterable, Sendable {
    case serviceEnd = "service-end"
    case boolean
    case status
    case maintenance
    case switchObject = "switch"

    private static let endKeys = ["service_end", "is_service_end"]
    private static let maintenanceKey = "server_maintenance_config"
    static let countdownKey = "service_countdown"

    /// The default of `key`: one text, or several of which the first that the flags hold counts; nil
    /// if the whole document is read.
    var defaultKey: JSON.Value? {
        switch self {
        case .serviceEnd: .strings(Self.endKeys)
        case .maintenance: .string(Self.maintenanceKey)
        case .boolean, .status, .switchObject: nil
        }
    }

    /// The format with these keys; nil stands for the default key. `closedWhen` is a Boolean's alone.
    package func format(
        key: String?, countdownKey: String? = nil, closedWhen: Bool = true,
        closedState: ClosedState = .maintenance
    ) -> Format {
        switch self {
        case .boolean:
            .boolean(BooleanFlag(key: key, closedWhen: closedWhen, closedState: closedState))
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
    /// Reads a switch; nil after an error. A source that an address implies is named after `service`.
    init?(from reader: TableDecoder, of service: String, _ sources: inout ConfiguredSources) {
        let source = Self.source(from: reader, of: service, &sources)
        let format = Self.format(from: reader)
        guard let source, let format else { return nil }
        self.init(source: source, format: format)
        if case .boolean(let flag) = format, flag.key == FlagDocument.wholeKey,
            let cause = sources.causeAgainstWhole(source)
        {
            reader.report.error(
                "missing key '\(SwitchKey.key.rawValue)' \(reader.place), which format "
                    + "'\(FormatWord.boolean.rawValue)' needs: source '\(source)' \(cause)",
                at: reader.origin)
        }
    }

    private static func source(
        from reader: TableDecoder, of service: String, _ sources: inout ConfiguredSources
    ) -> SourceName? {
        let word = ValueType<String>.text("source")
        // An address is written without its secrets.
        let type = ValueType<String>(expected: word.expected, read: word.read) {
            $0.withoutSecrets.tomlText
        }
        guard let text = reader.required(SwitchKey.source, type),
            let member = reader.member(SwitchKey.source)
        else { return nil }
        do {
            return try sources.name(of: text, at: member.node.origin, for: service)
        } catch {
            reader.refuse(member, error, expecting: type.expected)
            return nil
        }
    }

    private static func format(from reader: TableDecoder) -> Format? {
        let word: FormatWord? = reader.required(SwitchKey.format, .word)
        let key = reader.optional(SwitchKey.key, .text("key"))
        if reader.member(SwitchKey.key) == nil, let key = word?.defaultKey {
            reader.report.record("\(reader.path).key", key.toml, from: nil)
        }
        for other in SwitchKey.allCases {
            guard let word, let owner = other.format, owner != word,
                let member = reader.member(other)
            else { continue }
            reader.report.error(
                "key '\(member.key)' \(reader.place) belongs to format "
                    + "'\(owner.rawValue)', not to '\(word.rawValue)'",
                at: member.keyOrigin)
        }
        switch word {
        case .boolean:
            // No default: the name of a flag may say either.
            let closedWhen = reader.required(SwitchKey.closedWhen, .bool)
            let state = reader.value(
                SwitchKey.closedState, ValueType<ClosedState>.word, default: .maintenance)
            return closedWhen.flatMap {
                word?.format(key: key, closedWhen: $0, closedState: state)
            }
        case .serviceEnd, nil:
            let countdownKey = reader.value(
                SwitchKey.countdownKey, .text("key"), default: FormatWord.countdownKey)
            return word?.format(key: key, countdownKey: countdownKey)
        case .status, .maintenance, .switchObject: return word?.format(key: key)
        }
    }
}
