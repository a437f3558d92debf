/// One configuration file as it is written: any TOML, each node with its place. What may stand in it
/// is checked after all files are merged, because one of them alone need not make sense.
package struct Fragment: Hashable, Sendable {
    package var file: String
    package var root: Table

    /// The largest file that is parsed. A configuration of a thousand services is a tenth of it.
    package static let largestFile = 1 << 20

    /// Throws what is wrong with the syntax, or that the file is too large.
    package init(file: String, bytes: [UInt8]) throws(Diagnostic) {
        guard bytes.count <= Self.largestFile else {
            throw Diagnostic(
                "file of \(bytes.count) bytes: at most \(Self.largestFile) are read",
                at: Origin(file: file, line: 1, column: 1))
        }
        self.file = file
        self.root = try TomlDocument(file: file, bytes: bytes).root()
    }
}
