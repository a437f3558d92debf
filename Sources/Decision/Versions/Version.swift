/// A version of some software, as it is written. Nothing is refused: what cannot be understood can
/// still be compared.
package struct Version: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    /// Nil where there is nothing but white space. White space around it is not part of a version,
    /// and of several lines the first counts, as files of versions have them.
    package init?(_ text: String) {
        let line = text.utf8.split(maxSplits: 1, whereSeparator: { $0 == 0x0A || $0 == 0x0D }).first
        let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        var trimmed = (line ?? text.utf8.prefix(0)).drop(while: isBlank)
        while let last = trimmed.last, isBlank(last) { trimmed = trimmed.dropLast() }
        guard !trimmed.isEmpty else { return nil }
        self.text = String(Substring(trimmed))
    }

    package var description: String { text }

    /// The rule: precedence of Semantic Versioning 2.0.0 where both are such versions, else Debian's
    /// order. A `v` before a digit at the beginning does not count.
    package func isOlder(than other: Version) -> Bool {
        if let own = SemanticVersion(bare), let other = SemanticVersion(other.bare) {
            return own.isOlder(than: other)
        }
        return DebianVersion(bare).isOlder(than: DebianVersion(other.bare))
    }

    private var bare: Substring {
        let bytes = text.utf8
        guard bytes.first.map({ $0 | 0x20 == UInt8(ascii: "v") }) ?? false,
            bytes.dropFirst().first?.isDigit ?? false
        else { return text[...] }
        return Substring(bytes.dropFirst())
    }
}

/// Where a service's installed version is known from.
package enum InstalledVersion: Hashable, Sendable {
    case version(Version)
    /// A file at an absolute path, whose first line is the version.
    case file(String)
}
