/// One setting as it is in force, for `--check`.
package struct EffectiveSetting: Hashable, Sendable, CustomStringConvertible {
    /// Such as `service.shop.time_zone`; switches are counted from 0: `service.shop.switch[0].key`.
    package var path: String
    /// As TOML.
    package var value: String
    /// Where it is written; nil is a default.
    package var origin: Origin?

    package var description: String {
        guard let origin else { return "\(path) = \(value)   (default)" }
        return "\(path) = \(value)   (\(origin.file):\(origin.line))"
    }
}

/// What is noted while a configuration is read: reading goes on after an error, so that all of them
/// are found at once.
struct Report {
    private(set) var errors: [Diagnostic] = []
    private(set) var warnings: [Diagnostic] = []
    private var effective: [EffectiveSetting] = []

    /// Notes what makes the configuration unusable.
    mutating func error(_ text: String, at origin: Origin) {
        errors.append(Diagnostic(text, at: origin))
    }

    /// Notes what works, but not as its author may think.
    mutating func warn(_ text: String, at origin: Origin) {
        warnings.append(Diagnostic(text, at: origin))
    }

    /// Adds all that another report holds.
    mutating func append(_ other: Report) {
        errors += other.errors
        warnings += other.warnings
        effective += other.effective
    }

    /// What was recorded under one of the tables at the top, in the order of recording.
    func effective(under table: RootKey) -> [EffectiveSetting] {
        effective.filter { $0.path.hasPrefix("\(table.rawValue).") }
    }

    /// Notes a setting in force, its value as TOML; no origin is a default.
    mutating func record(_ path: String, _ value: String, from origin: Origin?) {
        effective.append(EffectiveSetting(path: path, value: value, origin: origin))
    }
}
