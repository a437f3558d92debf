/// The name of a service, a source or a variant: `[a-z0-9][a-z0-9_-]{0,62}`. Each becomes part of a file name, of a
/// unit's instance name and of a metric's label. The phantom type `Thing` keeps them apart.
package struct Name<Thing>: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let text: String

    /// Nil if `text` is not a name.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, bytes.count <= 63, Self.isAlphanumeric(first),
            bytes.allSatisfy({
                Self.isAlphanumeric($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
            })
        else { return nil }
        self.text = text
    }

    package var description: String { text }

    /// By Unicode scalars: names hold ASCII alone.
    package static func < (left: Self, right: Self) -> Bool { left.text < right.text }

    /// The rule for names as a clause, for error messages and the man page.
    package static var rule: String {
        "1 to 63 of a-z, 0-9, '_' and '-', the first a letter or digit"
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte.isDigit
    }
}

/// Marks the names of services.
package enum ServiceTag {}
/// Marks the names of sources.
package enum SourceTag {}
/// Marks the names of guards.
package enum GuardTag {}

extension Name where Thing == ServiceTag {
    /// Whether no service can have this name: the runtime directory has a file of it.
    package static func isReserved(_ text: String) -> Bool { text == "alive" || text == "motd" }
}

/// The name of a service, as in `[service.NAME]`.
package typealias ServiceName = Name<ServiceTag>
/// The name of a source, as in `[source.NAME]`.
package typealias SourceName = Name<SourceTag>
/// The name of a guard, as in `[guard.NAME]`.
package typealias GuardName = Name<GuardTag>
