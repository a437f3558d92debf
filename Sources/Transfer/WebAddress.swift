import CCurl

/// The parts of a URL that say whom a request goes to: its origin (RFC 6454 §4).
package struct WebAddress: Hashable, Sendable {
    /// In lower case.
    package let scheme: String
    /// In lower case.
    package let host: String
    /// The scheme's own where the URL names none.
    package let port: String

    /// Nil where libcurl cannot read `url`.
    package init?(_ url: String) {
        guard let parser = unsafe curl_url() else { return nil }
        defer { unsafe curl_url_cleanup(parser) }
        guard unsafe curl_url_set(parser, CURLUPART_URL, url, 0) == CURLUE_OK else { return nil }
        func part(_ part: CURLUPart) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            let flags = UInt32(CURLU_DEFAULT_PORT)
            guard unsafe curl_url_get(parser, part, &text, flags) == CURLUE_OK,
                let text = unsafe text
            else { return nil }
            defer { unsafe curl_free(text) }
            return unsafe String(cString: text)
        }
        guard let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST),
            let port = part(CURLUPART_PORT)
        else { return nil }
        self.scheme = scheme.lowercased()
        self.host = host.lowercased()
        self.port = port
    }

    /// Whether a secret may be sent there: by https, or over this host's own loopback.
    package var isConfidential: Bool {
        switch scheme {
        case "https": return true
        case "http":
            if ["localhost", "[::1]"].contains(host) { return true }
            let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
                .map { UInt8($0) }
            return numbers.count == 4 && !numbers.contains(nil) && numbers[0] == 127
        default: return false
        }
    }
}
