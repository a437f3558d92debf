/// A version in Debian's order (deb-version(7)): `[EPOCH:]UPSTREAM[-REVISION]`. Every text is one,
/// for software that is not packaged has versions too.
struct DebianVersion {
    private let epoch: Substring.UTF8View
    private let upstream: Substring.UTF8View
    private let revision: Substring.UTF8View

    init(_ text: Substring) {
        let bytes = text.utf8
        var rest = bytes
        var epoch = bytes.prefix(0)
        if let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > bytes.startIndex,
            bytes[..<colon].allSatisfy(\.isDigit)
        {
            epoch = bytes[..<colon]
            rest = bytes[bytes.index(after: colon)...]
        }
        self.epoch = epoch
        if let hyphen = rest.lastIndex(of: UInt8(ascii: "-")) {
            upstream = rest[..<hyphen]
            revision = rest[rest.index(after: hyphen)...]
        } else {
            upstream = rest
            revision = rest.suffix(0)
        }
    }

    func isOlder(than other: DebianVersion) -> Bool {
        for (left, right) in [
            (epoch, other.epoch), (upstream, other.upstream), (revision, other.revision),
        ] {
            let order = Self.order(left, right)
            if order != 0 { return order < 0 }
        }
        return false
    }

    /// Negative where `left` comes first: parts that are no digits by `weight`, parts of digits as
    /// numbers, in turn.
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

    /// A tilde comes before the end, the end before letters, letters before all else.
    private static func weight(_ byte: UInt8?) -> Int {
        guard let byte, !byte.isDigit else { return 0 }
        if byte == UInt8(ascii: "~") { return -1 }
        return byte.isLetter ? Int(byte) : Int(byte) + 256
    }

    /// Takes the leading digits, less zeros before the number.
    private static func number(_ text: inout Substring.UTF8View) -> Substring.UTF8View {
        let digits = text.prefix(while: \.isDigit)
        text = text[digits.endIndex...]
        return digits.drop { $0 == UInt8(ascii: "0") }
    }
}
