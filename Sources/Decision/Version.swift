/// The version of a piece of software, as it is written. Every text is a version and can be compared.
package struct Version: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    /// The first line of `text` without white space around it; nil if that line is empty.
    package init?(_ text: String) {
        let line = text.utf8.split(maxSplits: 1, whereSeparator: { $0 == 0x0A || $0 == 0x0D }).first
        var trimmed = (line ?? text.utf8.prefix(0)).drop(while: \.isBlank)
        while let last = trimmed.last, last.isBlank { trimmed = trimmed.dropLast() }
        guard !trimmed.isEmpty else { return nil }
        self.text = String(Substring(trimmed))
    }

    package var description: String { text }

    /// Compares by the precedence of Semantic Versioning 2.0.0 if both are such versions, else by
    /// Debian's order (deb-version(7)). A `v` before a first digit does not count.
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

/// The origin of a service's installed version.
package enum InstalledVersion: Hashable, Sendable {
    case version(Version)
    /// A file at an absolute path, whose first line is the version.
    case file(String)

    /// The version in the configuration; nil for a file, whose version comes with an event.
    var fixed: Version? { if case .version(let version) = self { version } else { nil } }
}

/// A version as Semantic Versioning 2.0.0 writes it: `MAJOR.MINOR.PATCH[-PRERELEASE][+BUILD]`.
struct SemanticVersion {
    /// Major, minor and patch as text, because they may have any length; no leading zeros.
    private let core: [Substring]
    private let prerelease: [Substring]

    /// Nil unless `text` follows §2, §9 and §10 exactly.
    init?(_ text: Substring) {
        let sides = text.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
        let parts = sides[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        core = Self.identifiers(parts[0])
        prerelease = parts.count > 1 ? Self.identifiers(parts[1]) : []
        let build = sides.count > 1 ? Self.identifiers(sides[1]) : []
        guard core.count == 3, core.allSatisfy(\.isNumber), !core.contains(where: \.hasLeadingZero),
            (prerelease + build).allSatisfy(\.isIdentifier),
            !prerelease.contains(where: { $0.isNumber && $0.hasLeadingZero })
        else { return nil }
    }

    /// Compares by §11: the build does not count, and a pre-release comes before its release.
    func isOlder(than other: SemanticVersion) -> Bool {
        for (left, right) in zip(core, other.core) where !left.isSame(as: right) {
            return left.isLowerNumber(than: right)
        }
        if prerelease.isEmpty || other.prerelease.isEmpty {
            return !prerelease.isEmpty && other.prerelease.isEmpty
        }
        for (left, right) in zip(prerelease, other.prerelease) where !left.isSame(as: right) {
            if left.isNumber != right.isNumber { return left.isNumber }
            return left.isNumber
                ? left.isLowerNumber(than: right) : left.utf8.lexicographicallyPrecedes(right.utf8)
        }
        return prerelease.count < other.prerelease.count
    }

    private static func identifiers(_ text: Substring) -> [Substring] {
        text.split(separator: ".", omittingEmptySubsequences: false)
    }
}

extension Substring {
    fileprivate var isNumber: Bool { !isEmpty && utf8.allSatisfy(\.isDigit) }

    fileprivate var hasLeadingZero: Bool { utf8.count > 1 && utf8.first == UInt8(ascii: "0") }

    fileprivate var isIdentifier: Bool {
        !isEmpty && utf8.allSatisfy { $0.isDigit || $0.isLetter || $0 == UInt8(ascii: "-") }
    }

    /// Of two numbers without leading zeros the longer is the larger.
    fileprivate func isLowerNumber(than other: Substring) -> Bool {
        utf8.count == other.utf8.count
            ? utf8.lexicographicallyPrecedes(other.utf8) : utf8.count < other.utf8.count
    }
}

extension UInt8 {
    /// Whether it is white space of ASCII.
    var isBlank: Bool { self == 0x20 || (0x09...0x0D).contains(self) }

    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
}

/// A version in Debian's order (deb-version(7)): `[EPOCH:]UPSTREAM[-REVISION]`. Every text is such a version.
struct DebianVersion {
    private let epoch: Substring.UTF8View
    private let upstream: Substring.UTF8View
    private let revision: Substring.UTF8View

    /// Splits `text` at the first colon after digits and at the last hyphen.
    init(_ text: Substring) {
        let digits = text.utf8.prefix(while: \.isDigit)
        var rest = text.utf8.dropFirst(digits.count)
        let hasEpoch = !digits.isEmpty && rest.first == UInt8(ascii: ":")
        rest = hasEpoch ? rest.dropFirst() : text.utf8
        epoch = digits.prefix(hasEpoch ? digits.count : 0)
        let hyphen = rest.lastIndex(of: UInt8(ascii: "-")) ?? rest.endIndex
        upstream = rest[..<hyphen]
        revision = rest[hyphen...].dropFirst()
    }

    /// Compares epoch, upstream version and revision, in this order.
    func isOlder(than other: DebianVersion) -> Bool {
        let parts = [(epoch, other.epoch), (upstream, other.upstream), (revision, other.revision)]
        for (left, right) in parts {
            let order = Self.order(left, right)
            if order != 0 { return order < 0 }
        }
        return false
    }

    /// Negative if `left` comes first. Compares parts without digits by `weight`, and digits as numbers, in turn.
    private static func order(_ left: Substring.UTF8View, _ right: Substring.UTF8View) -> Int {
        var (left, right) = (left, right)
        while !left.isEmpty || !right.isEmpty {
            while left.first.map({ !$0.isDigit }) ?? false
                || right.first.map({ !$0.isDigit }) ?? false
            {
                let difference = weight(left.first) - weight(right.first)
                if difference != 0 { return difference }
                left = left.dropFirst()
                right = right.dropFirst()
            }
            let (one, other) = (number(&left), number(&right))
            if one.count != other.count { return one.count - other.count }
            for (left, right) in zip(one, other) where left != right {
                return Int(left) - Int(right)
            }
        }
        return 0
    }

    /// The order: a tilde, the end of the text, letters, all other bytes.
    private static func weight(_ byte: UInt8?) -> Int {
        guard let byte, !byte.isDigit else { return 0 }
        if byte == UInt8(ascii: "~") { return -1 }
        return byte.isLetter ? Int(byte) : Int(byte) + 256
    }

    /// Removes the leading digits and returns them without leading zeros.
    private static func number(_ text: inout Substring.UTF8View) -> Substring.UTF8View {
        let digits = text.prefix(while: \.isDigit)
        text = text[digits.endIndex...]
        return digits.drop { $0 == UInt8(ascii: "0") }
    }
}
