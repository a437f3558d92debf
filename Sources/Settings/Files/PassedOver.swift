/// A file of a drop-in folder that is no part of the configuration, and why.
package struct PassedOver: Hashable, Sendable {
    package enum Cause: Hashable, Sendable {
        /// Its name does not end in `.toml`.
        case otherSuffix
        /// A stronger folder has a file of that name.
        case overridden(by: String)
        /// It is a link to /dev/null, which takes its name out.
        case masked
        /// In a directory of the daemon's user, and perhaps of its making.
        case doubtful(Doubt)
    }

    package let path: String
    package let cause: Cause

    init(_ path: String, _ cause: Cause) {
        self.path = path
        self.cause = cause
    }

    /// Whether its author most likely meant it to be read.
    package var isWarning: Bool {
        switch cause {
        case .otherSuffix, .doubtful: true
        case .overridden, .masked: false
        }
    }
}

extension PassedOver: CustomStringConvertible {
    package var description: String {
        switch cause {
        case .otherSuffix: "skipped \(path): its name does not end in .toml"
        case .overridden(let winner): "skipped \(path): \(winner) is read instead"
        case .doubtful(let doubt): "skipped \(path): \(doubt)"
        case .masked: "masked \(path): it is a link to /dev/null"
        }
    }
}
