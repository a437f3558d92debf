/// A text that should be a URL. It is checked against as much of RFC 3986 as refuses URLs whose fetch
/// could only fail.
struct URLText {
    private static let schemes = ["https://", "http://"]

    private let text: String

    /// Any text; `flaw` tells whether it is accepted.
    init(_ text: String) {
        self.text = text
    }

    /// Why it is refused; nil if it is accepted.
    var flaw: String? {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return "it holds a blank or a non-ASCII character; write it as %XX"
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

    /// Whether its host is this host by every name server: `localhost`, 127.0.0.0/8 or `[::1]`.
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

extension ValueType where Value == String {
    /// The URL of a document, such as `https://flags.example.com/shop.json`.
    static var documentURL: Self {
        .string(expected: "a URL such as \"https://flags.example.com/shop.json\"") {
            text throws(ValueProblem) in
            if let flaw = URLText(text).flaw { throw .bad("URL", cause: flaw) }
            return text
        }
    }
}

extension String {
    /// The text without the slashes at its end.
    var withoutTrailingSlashes: String {
        var rest = self[...]
        while rest.last == "/" { rest.removeLast() }
        return String(rest)
    }
}
