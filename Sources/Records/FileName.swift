package import Decision

/// The names of the files that others rely on.
package enum FileName {
    package static let state = "state.json"
    package static let environment = "state.env"
    /// Why the configuration on disk is refused; there only while it is. No service has a dot in
    /// its name.
    package static let refusedConfiguration = "configuration.refused"
    package static let units = "units.json"
    /// Where the daemon listens to killswitchctl.
    package static let controlSocket = "control.sock"
    package static let sourcePrefix = "source."

    /// The file whose modification time says when a source last confirmed its flags.
    package static func source(_ name: SourceName) -> String { sourcePrefix + name.text }
}
