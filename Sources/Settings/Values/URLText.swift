/// A text that should be the URL of a document: as much of RFC 3986 as it takes to refuse what could
/// only fail later.
struct URLText {
    private static let schemes = ["https://", "http://"]

    private let text: String

    init(_ text: String) {
        self.text = text
    }

    /// What is wrong with it.
    var flaw: String? {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return "it holds a blank or what is not ASCII; write it as %XX"
        }
        guard let scheme = Self.schemes.first(where: text.hasPrefix) else {
            return "it begins with neither 'https://' nor 'http://'"
        }
        guard !text.utf8.contains(UInt8(ascii: "#")) else {
            return "what follows '#' is not sent to a server; leave it out"
        }
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.contains("@") else {
            return "a user or password does not belong into this file; use 'bearer'"
        }
        return authorityFlaw(authority)
    }

    /// Whether it leads to this host, whatever a name server says.
    var isLoopback: Bool {
        guard let scheme = Self.schemes.first(where: text.hasPrefix) else { return false }
        let authority = text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }
        if authority.hasPrefix("[") { return authority.prefix { $0 != "]" } == "[::1" }
        let host = authority.prefix { $0 != ":" }
        if host.lowercased() == "localhost" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && !numbers.contains(nil) && numbers[0] == 127
    }

    private func authorityFlaw(_ authority: Substring) -> String? {
        let isAddress = authority.hasPrefix("[")
        let host = isAddress ? authority.prefix { $0 != "]" } : authority.prefix { $0 != ":" }
        let end =
            isAddress
            ? authority.dropFirst(host.count).dropFirst() : authority.dropFirst(host.count)
        guard !host.isEmpty, host != "[" else { return "it names no host" }
        let isHostText = host.dropFirst(isAddress ? 1 : 0).utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                true
            default: isAddress && (byte == UInt8(ascii: ":") || byte == UInt8(ascii: "%"))
            }
        }
        guard isHostText else { return "its host is no name and no address" }
        if end.isEmpty { return nil }
        guard end.hasPrefix(":"), let port = UInt16(end.dropFirst()), port > 0 else {
            return "its port is no number from 1 to 65535"
        }
        return nil
    }
}
