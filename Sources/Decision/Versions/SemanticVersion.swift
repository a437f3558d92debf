/// A version as Semantic Versioning 2.0.0 writes it: `MAJOR.MINOR.PATCH[-PRERELEASE][+BUILD]`.
struct SemanticVersion {
    /// Numbers of any length, so they stay text: `0`, or without a leading zero.
    private let core: [Substring]
    private let prerelease: [Substring]

    /// Nil where `text` is not such a version, to the letter (§2, §9, §10).
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

    /// Precedence by §11: the build does not count, and a pre-release comes before its release.
    func isOlder(than other: SemanticVersion) -> Bool {
        for (left, right) in zip(core, other.core) where !left.isSameBytes(right) {
            return left.isLowerNumber(than: right)
        }
        if prerelease.isEmpty || other.prerelease.isEmpty {
            return !prerelease.isEmpty && other.prerelease.isEmpty
        }
        for (left, right) in zip(prerelease, other.prerelease) where !left.isSameBytes(right) {
            switch (left.isNumber, right.isNumber) {
            case (true, true): return left.isLowerNumber(than: right)
            case (true, false): return true
            case (false, true): return false
            case (false, false): return left.utf8.lexicographicallyPrecedes(right.utf8)
            }
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

    fileprivate func isSameBytes(_ other: Substring) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension UInt8 {
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var isLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }
}
