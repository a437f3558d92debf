/// The version of both programs and of the package.
package enum ProgramVersion {
    /// As in CHANGELOG.md. It is written here alone: `packaging/version` reads it for the package.
    package static let current = "0.1.0"
}
