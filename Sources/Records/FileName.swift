package import Decision

/// The names of the files that others rely on.
package enum FileName {
    package static let state = "state.json"
    package static let environment = "state.env"
    /// Why the configuration on disk is refused; there only while it is. No service has a dot in
    /// its name.
    package static let refusedConfiguration = "configuration.refused"
    package static let units = "units.json"
    package static let sourcePrefix = "source."

    /// The file whose modification time says when a source last confirmed its flags.
    package static func source(_ name: SourceName) -> String { sourcePrefix + name.text }
}
