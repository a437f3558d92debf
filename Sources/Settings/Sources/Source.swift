package import Decision
package import JSON

/// A source of flags: what is asked, how often, and how long an answer may take and be.
package struct Source: Hashable, Sendable {
    package var name: SourceName
    package var kind: Kind
    /// From one question to the next, before jitter and back-off.
    package var interval: Duration
    /// How long one fetch may take.
    package var timeout: Duration
    /// The longest body of an answer, in bytes.
    package var maxBody: Int
    /// What a key is worth that the source does not hold.
    package var defaults: JSON.Object
    /// The table that defines it, or the address that implies it.
    package var origin: Origin

    package init(
        name: SourceName, kind: Kind, interval: Duration = Self.defaultInterval,
        timeout: Duration = Self.defaultTimeout, maxBody: Int = Self.defaultMaxBody,
        defaults: JSON.Object = JSON.Object(), origin: Origin
    ) {
        self.name = name
        self.kind = kind
        self.interval = interval
        self.timeout = timeout
        self.maxBody = maxBody
        self.defaults = defaults
        self.origin = origin
    }

    /// What holds where the configuration says nothing.
    package static let defaultInterval = Duration.seconds(60)
    /// As above.
    package static let defaultTimeout = Duration.seconds(30)
    /// As above, in bytes.
    package static let defaultMaxBody = 1 << 20

    /// Where flags come from, with the settings of that alone.
    package enum Kind: Hashable, Sendable {
        /// The path is absolute where that of the configuration is.
        case file(path: String)
        case http(Document)
        case etcd(Cluster)
        case ofrep(Evaluation)
        case firebase(Firebase)
        case firebaseServer(FirebaseServer)
    }
}
