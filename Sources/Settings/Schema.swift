/// A key of one table of the configuration. The raw value is its spelling.
package protocol SettingKey: RawRepresentable, CaseIterable, Sendable where RawValue == String {}

/// The tables at the top of a file.
package enum RootKey: String, SettingKey {
    case source
    case service
    case limits
}

/// What `[limits]` holds: what is true of the whole host.
package enum LimitsKey: String, SettingKey {
    case closeAtOnce = "close_at_once"
}

/// What every `[source.NAME]` may hold, whatever its type.
package enum SourceKey: String, SettingKey {
    case type
    case interval
    case timeout
    case maxBody = "max_body"
    case defaults
}

/// What a `[source.NAME]` of type `file` holds besides.
package enum FileKey: String, SettingKey {
    case path
}

/// What a `[source.NAME]` of type `http` holds besides.
package enum HTTPKey: String, SettingKey {
    case url
    case ca
    case clientCertificate = "client_certificate"
    case clientKey = "client_key"
    case bearer
    case headers
    case unixSocket = "unix_socket"
}

/// What a `[source.NAME]` of type `etcd` holds besides.
package enum EtcdKey: String, SettingKey {
    case endpoints
    case prefix
    case user
    case password
    case ca
    case clientCertificate = "client_certificate"
    case clientKey = "client_key"
}

/// What a `[source.NAME]` of type `ofrep` holds besides.
package enum OFREPKey: String, SettingKey {
    case url
    case context
    case bearer
    case apiKey = "api_key"
    case ca
    case clientCertificate = "client_certificate"
    case clientKey = "client_key"
}

/// What a `[source.NAME]` of type `firebase-server` holds besides.
package enum FirebaseServerKey: String, SettingKey {
    case project
    case credentials
    case baseURL = "base_url"
    case scope
    case randomizationID = "randomization_id"
    case signals
}

/// What a `[source.NAME]` of type `firebase` holds besides.
package enum FirebaseKey: String, SettingKey {
    case project
    case apiKey = "api_key"
    case appID = "app_id"
    case baseURL = "base_url"
    case realtime
    case realtimeURL = "realtime_url"
    case installationsURL = "installations_url"
}

/// A switch: a `[[service.NAME.switch]]`, or the same keys in `[service.NAME]` where there is one.
package enum SwitchKey: String, SettingKey {
    case source
    case format
    case key
    case countdownKey = "countdown_key"
}

/// What a `[service.NAME]` may hold besides the keys of its one switch.
package enum ServiceKey: String, SettingKey {
    case switches = "switch"
    case timeZone = "time_zone"
    case maxStale = "max_stale"
    case whenStale = "when_stale"
    case whenUnknown = "when_unknown"
    case firstTimeout = "first_timeout"
    case atEnd = "at_end"
    case updateRequired = "update_required"
    case minClosed = "min_closed"
    case confirmClose = "confirm_close"
    case confirmOpen = "confirm_open"
    case installedVersion = "installed_version"
    case installedVersionFile = "installed_version_file"
    case activation
    case variant
    case values
}

/// What `[service.NAME.variant]` holds.
package enum VariantKey: String, SettingKey {
    case source
    case key
    case map
    case fallback = "default"
}

/// What each member of `[service.NAME.values]` holds.
package enum ValueKey: String, SettingKey {
    case source
    case key
    case type
    case fallback = "default"
}

extension SettingKey {
    /// The spellings of all keys of the table.
    static var words: [String] { allCases.map(\.rawValue) }
}

/// Every table that a configuration may hold, with every key of it: what the manual has to explain.
package enum Schema {
    /// Each table as a file would write it, with its keys.
    package static var tables: [(table: String, keys: [String])] {
        [
            ("[source.NAME]", SourceKey.words + SourceType.keys),
            ("[service.NAME]", SwitchKey.words + ServiceKey.words),
            ("[[service.NAME.switch]]", SwitchKey.words),
            ("[limits]", LimitsKey.words),
            ("[service.NAME.variant]", VariantKey.words),
            ("[service.NAME.values]", ValueKey.words),
        ]
    }
}
