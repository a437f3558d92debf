/// A text that should be a URL. It is checked against as much of RFC 3986 as refuses URLs whose fetch
/// could only fail.
struct URLText {
    let text: String
    /// The host and the port; empty without a scheme.
    let authority: Substring

    /// Any text; `problem` tells whether it is accepted.
    init(_ text: String) {
        self.text = text
        let scheme = ["https://", "http://"].first(where: text.hasPrefix)
        authority = scheme.map { text.dropFirst($0.count).prefix { $0 != "/" && $0 != "?" } } ?? ""
    }

    var isHTTPS: Bool { text.hasPrefix("https:") }

    var hasQuery: Bool { text.utf8.contains(UInt8(ascii: "?")) }

    /// The text without the slashes at its end.
    var withoutTrailingSlashes: String {
        var rest = text[...]
        while rest.last == "/" { rest.removeLast() }
        return String(rest)
    }

    /// Why it is refused; nil if it is accepted.
    var problem: String? {
        guard text.isASCII(from: "!") else {
            return "it holds a blank or a non-ASCII character; write it as %XX"
        }
        guard text.hasPrefix("https://") || text.hasPrefix("http://") else {
            return "it begins with neither 'https://' nor 'http://'"
        }
        guard !text.utf8.contains(UInt8(ascii: "#")) else {
            return "what follows '#' is not sent to a server; leave it out"
        }
        guard !authority.contains("@") else {
            return "a user or password does not belong into this file; use 'bearer'"
        }
        let isAddress = authority.hasPrefix("[")
        let name = isAddress ? host.dropFirst() : host
        guard !name.isEmpty else { return "it names no host" }
        let more = isAddress ? "-._:%" : "-._"
        guard name.utf8.allSatisfy({ $0.isAlphanumeric || more.utf8.contains($0) }) else {
            return "its host is no name and no address"
        }
        let end = authority.dropFirst(host.count + (isAddress ? 1 : 0))
        if end.isEmpty { return nil }
        guard end.hasPrefix(":"), let port = UInt16(end.dropFirst()), port > 0 else {
            return "its port is no number from 1 to 65535"
        }
        return nil
    }

    /// Whether its host is this host by every name server: `localhost`, 127.0.0.0/8 or `[::1]`.
    var isLoopback: Bool {
        if host == "[::1" || host.lowercased() == "localhost" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && !numbers.contains(nil) && numbers[0] == 127
    }

    /// The name or the address; an IPv6 address from its bracket on, without the bracket at its end.
    private var host: Substring {
        authority.prefix { $0 != (authority.hasPrefix("[") ? "]" : ":") }
    }
}

extension ValueType where Value == String {
    /// A URL that `check` accepts, in the form that `check` returns.
    static func url(
        expected: String, _ check: @escaping (URLText) throws(ValueProblem) -> String
    ) -> Self {
        .string(expected: expected) { text throws(ValueProblem) in
            let url = URLText(text)
            if let problem = url.problem { throw .bad("URL", cause: problem) }
            return try check(url)
        }
    }
}
