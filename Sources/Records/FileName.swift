package import Decision

/// The names of the files that others rely on.
package enum FileName {
    package static let state = "state.json"
    package static let environment = "state.env"
    package static let sourcePrefix = "source."

    /// The file whose modification time says when a source last confirmed its flags.
    package static func source(_ name: SourceName) -> String { sourcePrefix + name.text }
}
