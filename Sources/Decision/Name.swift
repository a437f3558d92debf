/// The name of a service, a source or a variant: `[a-z0-9][a-z0-9_-]{0,62}`.
///
/// One spelling for all three, because each becomes part of a file name, a unit's instance name and
/// a metric's label. The phantom type keeps a service's name from standing where a source's belongs.
package struct Name<Thing>: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let text: String

    /// Nil where `text` is not a name.
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

    package static func < (left: Self, right: Self) -> Bool { left.text < right.text }

    /// What a name may be, for error messages and the man page.
    package static var rule: String {
        "1 to 63 of a-z, 0-9, '_' and '-', the first a letter or digit"
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

package enum ServiceTag {}
package enum SourceTag {}

package typealias ServiceName = Name<ServiceTag>
package typealias SourceName = Name<SourceTag>
