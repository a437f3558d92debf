/// A key of one table of the configuration. The raw value is its spelling in the file.
protocol SettingKey: RawRepresentable, CaseIterable, Sendable where RawValue == String {}

/// The top-level tables of a file.
enum RootKey: String, SettingKey {
    case source
    case service
    case attached
    case host
    case limits
    case metrics
    case report
    case fleet
    case `guard`
}

/// The keys of `[host]`.
enum HostKey: String, SettingKey {
    case slots
}

/// The keys of `[limits]`, which hold for the whole host.
enum LimitsKey: String, SettingKey {
    case closeAtOnce = "close_at_once"
    case closeWithin = "close_within"
    case notice
}

/// The keys of `[metrics]`.
enum MetricsKey: String, SettingKey {
    case textfile
}

/// The keys of `[fleet]`, which `killswitchctl fleet` reads and the daemon does not use.
enum FleetKey: String, SettingKey {
    case prometheus
    case inventory
}

/// The keys of `[report]`, besides those of a source of type `http`.
enum ReportKey: String, SettingKey {
    case timeout
    case etcd
    case spread
}

extension SettingKey {
    /// The spellings of all keys of the table.
    static var words: [String] { allCases.map(\.rawValue) }
}

/// Every table of the configuration with all of its keys. The manual has to explain each of them.
package enum Schema {
    /// Each table as its header in a file, with its keys.
    package static var tables: [(table: String, keys: [String])] {
        [
            ("[source.NAME]", SourceKey.words + SourceType.keys),
            ("[service.NAME]", SwitchKey.words + ServiceKey.words),
            ("[[service.NAME.switch]]", SwitchKey.words),
            ("[attached]", UnitKey.words),
            ("[host]", HostKey.words),
            ("[limits]", LimitsKey.words),
            ("[metrics]", MetricsKey.words),
            ("[report]", HTTPKey.words + ReportKey.words),
            ("[fleet]", FleetKey.words),
            ("[guard.NAME]", GuardKey.words + HTTPKey.words),
            ("[service.NAME.variant]", VariantKey.words),
            ("[service.NAME.values]", ValueKey.words),
        ]
    }
}
