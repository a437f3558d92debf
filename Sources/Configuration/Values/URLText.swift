import Glibc
import SourceSettings

/// A text that should be a URL. RFC 3986 is checked as far as a fetch could only fail.
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

    var withoutTrailingSlashes: String {
        var rest = text[...]
        while rest.last == "/" { rest.removeLast() }
        return String(rest)
    }

    /// Why it is refused; nil if it is accepted. `login` names the keys for a login: `'bearer'`.
    func problem(login: String) -> String? {
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
            return "do not write a user or password in a URL; use \(login)"
        }
        return hostProblem ?? portProblem
    }

    private var hostProblem: String? {
        guard authority.hasPrefix("[") else {
            if host.isEmpty { return "it names no host" }
            return host.isHostName ? nil : "its host is neither a name nor an address"
        }
        guard authority.contains("]") else { return "the '[' of its address is not closed" }
        let address = host.dropFirst()
        if address.isEmpty { return "it names no host" }
        return address.isIPv6WithZone ? nil : "the text in brackets is not an IPv6 address"
    }

    private var portProblem: String? {
        let end = authority.dropFirst(host.count + (authority.hasPrefix("[") ? 1 : 0))
        if end.isEmpty { return nil }
        let digits = end.dropFirst()
        let port = digits.utf8.allSatisfy(\.isDigit) ? UInt16(digits) : nil
        guard end.hasPrefix(":"), let port, port > 0 else {
            return "its port is not a number from 1 to 65535"
        }
        return nil
    }

    var isLoopback: Bool { (host.hasPrefix("[") ? "\(host)]" : host).isLoopbackHost }

    /// The name or the address; an IPv6 address from its bracket on, without the bracket at its end.
    private var host: Substring {
        authority.prefix { $0 != (authority.hasPrefix("[") ? "]" : ":") }
    }
}

extension ValueType where Value == String {
    /// A URL that `check` accepts, in the form that it returns. `login` names the keys for a login.
    static func url(
        expected: String, login: String,
        _ check: @escaping (URLText) throws(ValueProblem) -> String
    ) -> Self {
        Self(expected: expected, text: \.withoutSecrets) { text throws(ValueProblem) in
            let url = URLText(text)
            if let problem = url.problem(login: login) { throw .bad("URL", cause: problem) }
            return try check(url)
        }
    }
}

extension ValueType where Value == String {
    /// The URL of a page for people, which may name a part of it. Labels of metrics and lines of text have it.
    static var pageURL: Self {
        let such = "a URL such as \"https://wiki.example.com/shop#closed\""
        return Self(expected: such, text: { $0 }) { text throws(ValueProblem) in
            let url = URLText(String(text.prefix { $0 != "#" }))
            let part = text.drop { $0 != "#" }.dropFirst()
            if let problem = url.problem(login: "the login of the page") {
                throw .bad("URL", cause: problem)
            }
            guard part.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw .bad(
                    "URL", cause: "it holds a blank or a non-ASCII character; write it as %XX")
            }
            guard text.utf8.count <= 1024 else {
                throw .bad("URL", cause: "it is longer than 1024 bytes")
            }
            return text
        }
    }
}

extension Substring {
    /// Whether it is names with a dot between each two, or an address of IPv4. A dot may end it.
    fileprivate var isHostName: Bool {
        let labels = (hasSuffix(".") ? dropLast() : self)
            .split(separator: ".", omittingEmptySubsequences: false)
        return labels.allSatisfy { label in
            !label.isEmpty && label.utf8.allSatisfy { $0.isAlphanumeric || "-_".utf8.contains($0) }
        }
    }

    /// Whether it is an address of IPv6, with a zone at most: `fe80::1%25eth0` (RFC 6874), or without the
    /// `25`. libcurl reads zones of up to 15 characters, the longest name of a network interface.
    fileprivate var isIPv6WithZone: Bool {
        let address = prefix { $0 != "%" }
        guard address.isIPv6 else { return false }
        if address.endIndex == endIndex { return true }
        let end = dropFirst(address.count + 1)
        let zone = end.hasPrefix("25") && end.utf8.count > 2 ? end.dropFirst(2) : end
        return (1...15).contains(zone.utf8.count)
            && zone.utf8.allSatisfy { $0.isAlphanumeric || "-._:".utf8.contains($0) }
    }

    /// Whether libcurl takes it for an address of IPv6: it asks the same function.
    private var isIPv6: Bool {
        var address = in6_addr()
        return unsafe inet_pton(AF_INET6, String(self), &address) == 1
    }
}
