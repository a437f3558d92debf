package import Decision

/// The names of the files that other programs rely on.
package enum FileName {
    /// The verdict of a service, for programs.
    package static let state = "state.json"
    /// The same, for shells and units.
    package static let environment = "state.env"
    /// Why the configuration on disk is refused; only while it is. No service's folder has this name: it has a dot.
    package static let refusedConfiguration = "configuration.refused"
    /// The attached units of a service.
    package static let units = "units.json"
    /// What the gate of a service is in fact.
    package static let gate = "gate.json"
    /// Empty; it is there while the service is only observed: nothing is closed, whatever `state.json` says.
    package static let observed = "observed"
    /// The page for the users of a service.
    package static let page = "page.html"
    /// The same for the clients of an API, while people should see the page.
    package static let problem = "problem.json"
    /// Then also: after how many seconds a client may try again, filled up with spaces to as many bytes.
    package static let retryAfter = "retry-after"
    /// Empty; it is there while people should see the page.
    package static let unavailable = "unavailable"
    /// The announced end of a service that counts down, as an HTTP date; its modification time is the same.
    package static let sunset = "sunset"
    /// The metrics of the host, in the text format of Prometheus.
    package static let metrics = "metrics.prom"
    /// What the whole host is, for all who read.
    package static let host = "host.json"
    /// The socket on which the daemon listens for killswitchctl.
    package static let controlSocket = "control.sock"
    /// Empty: the time of its last change is that of the daemon's last sign of life.
    package static let alive = "alive"
    /// Announced ends, windows ahead and closed services, for people who log in.
    package static let motd = "motd"

    /// The service that has the folder of this name; nil for a name that is no service's.
    package static func service(_ entry: String) -> ServiceName? {
        ServiceName.isReserved(entry) ? nil : ServiceName(entry)
    }

    package static let sourcePrefix = "source."

    /// The mark of a source: its modification time says when the source last confirmed its flags.
    package static func source(_ name: SourceName) -> String { sourcePrefix + name.text }
}
