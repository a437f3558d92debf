/// Addresses as others may see them: in the journal, in refusals, in the output of `--check`.
extension String {
    /// The text without the parts of an address that may hold a secret: user and password, query and
    /// fragment. A text that is no address on the network stays as it is.
    package var withoutSecrets: String {
        if hasPrefix("file:") { return self }
        let login = rangeOfLogin
        let rest = self[(login?.upperBound ?? startIndex)...]
        let head = login.map { "\(self[..<$0.lowerBound])…" } ?? ""
        guard let end = rest.utf8.firstIndex(where: "?#".utf8.contains),
            // Without one of these before the query it is a sentence.
            login != nil || rest[..<end].utf8.contains(where: ":/".utf8.contains)
        else { return head + rest }
        return "\(head)\(rest[...end])…"
    }

    /// The range between `//` and the last `@` before the next slash; nil without them.
    private var rangeOfLogin: Range<Index>? {
        let slash = UInt8(ascii: "/")
        guard let first = utf8.firstIndex(of: slash) else { return nil }
        let second = utf8.index(after: first)
        guard second < utf8.endIndex, utf8[second] == slash else { return nil }
        let start = utf8.index(after: second)
        let authority = utf8[start...].prefix { $0 != slash }
        return authority.lastIndex(of: UInt8(ascii: "@")).map { start..<$0 }
    }
}

extension StringProtocol {
    /// Whether this host of a URL is this machine by every name server: `localhost`, 127.0.0.0/8 or `[::1]`.
    package var isLoopbackHost: Bool {
        if self == "[::1]" || lowercased() == "localhost" { return true }
        let numbers = split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && !numbers.contains(nil) && numbers[0] == 127
    }
}
