/// A place in a file. Lines and columns begin at 1; columns count code points.
package struct Origin: Hashable, Sendable, CustomStringConvertible {
    package var file: String
    package var line: Int
    package var column: Int

    /// A place in a file; the start of the file unless another place is given.
    package init(file: String, line: Int = 1, column: Int = 1) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// The form that editors and compilers agree on: `file:line:column`.
    package var description: String { "\(file):\(line):\(column)" }
}

/// An error or a warning about the configuration, and its place.
package struct Diagnostic: Error, Hashable, Sendable, CustomStringConvertible {
    package var origin: Origin
    /// One line, in lower case.
    package var text: String

    package var description: String { "\(origin): \(text)" }
}

/// Why a configuration cannot be run: its errors with file and line, a line for each, or the file that cannot be read.
package struct ConfigurationError: Error, CustomStringConvertible {
    package let description: String
}

extension ConfigurationError {
    /// Nil without an error.
    init?(_ errors: [Diagnostic]) {
        guard !errors.isEmpty else { return nil }
        description = errors.map(\.description).joined(separator: "\n")
    }
}

extension [Diagnostic] {
    /// In the order of `files`, then of the places in each, then as they are.
    func inOrder(of files: [String]) -> [Diagnostic] {
        let ranks = Dictionary(zip(files, 0...), uniquingKeysWith: { first, _ in first })
        func place(_ index: Int) -> (Int, Int, Int, Int) {
            let origin = self[index].origin
            return (ranks[origin.file] ?? files.count, origin.line, origin.column, index)
        }
        return indices.sorted { place($0) < place($1) }.map { self[$0] }
    }
}

/// A setting in force, for `--check`.
package struct EffectiveSetting: Hashable, Sendable, CustomStringConvertible {
    /// Such as `service.shop.time_zone`; switches are counted from 0: `service.shop.switch[0].key`.
    package var path: String
    /// The value as TOML.
    package var value: String
    /// The place in a file; nil for a default.
    package var origin: Origin?

    package var description: String {
        guard let origin else { return "\(path) = \(value)   (default)" }
        return "\(path) = \(value)   (\(origin.file):\(origin.line))"
    }
}

/// The errors, the warnings and the settings in force that reading a configuration finds, all in one run. A
/// class, because the readers of all tables write into it.
final class Diagnostics {
    private(set) var errors: [Diagnostic] = []
    private(set) var warnings: [Diagnostic] = []
    private(set) var effective: [EffectiveSetting] = []
    /// The secrets that were read, by the path of their table.
    private var secrets: [String: [Table.Member]] = [:]

    /// Adds an error: the configuration cannot be used.
    func error(_ text: String, at origin: Origin) {
        errors.append(Diagnostic(origin: origin, text: text))
    }

    /// Adds a warning: the configuration works, but perhaps not as its author thinks.
    func warn(_ text: String, at origin: Origin) {
        warnings.append(Diagnostic(origin: origin, text: text))
    }

    /// Adds a setting in force, its value as TOML; no origin for a default.
    func record(_ path: String, _ value: String, from origin: Origin?) {
        effective.append(EffectiveSetting(path: path, value: value, origin: origin))
    }

    /// Adds a secret of a table that was read.
    func record(secret: Table.Member, of path: String) { secrets[path, default: []].append(secret) }

    /// The secrets of a table that were read.
    func secrets(of path: String) -> [Table.Member] { secrets[path] ?? [] }

    /// Adds the contents of another report.
    func append(_ other: Diagnostics) {
        errors += other.errors
        warnings += other.warnings
        effective += other.effective
        secrets.merge(other.secrets, uniquingKeysWith: +)
    }

    /// The settings under one top-level table, in the order in which they were recorded.
    func effective(under table: RootKey) -> [EffectiveSetting] {
        effective.filter { $0.path.hasPrefix("\(table.rawValue).") }
    }
}
