/// One thing that is wrong with the configuration, and where.
package struct Diagnostic: Error, Hashable, Sendable, CustomStringConvertible {
    package var origin: Origin
    package var text: String

    package init(_ text: String, at origin: Origin) {
        self.origin = origin
        self.text = text
    }

    package var description: String { "\(origin): \(text)" }
}

/// A configuration that cannot be used: everything that is wrong with it, in the order of the files
/// and of the places in them.
package struct SettingsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Never empty.
    package let diagnostics: [Diagnostic]

    /// Nil where nothing is wrong.
    init?(_ diagnostics: [Diagnostic]) {
        guard !diagnostics.isEmpty else { return nil }
        self.diagnostics = diagnostics
    }

    /// A line for each.
    package var description: String {
        diagnostics.map(\.description).joined(separator: "\n")
    }
}

extension [Diagnostic] {
    /// In the order of `files`, then of the places in each; those of one place stay as they are.
    func inOrder(of files: [String]) -> [Diagnostic] {
        let ranks = Dictionary(zip(files, 0...), uniquingKeysWith: { first, _ in first })
        func place(_ index: Int) -> (Int, Int, Int, Int) {
            let origin = self[index].origin
            return (ranks[origin.file] ?? files.count, origin.line, origin.column, index)
        }
        return indices.sorted { place($0) < place($1) }.map { self[$0] }
    }
}
