import CCurl

/// The origin of a URL (RFC 6454 §4): the parts that say which server a request goes to.
package struct WebAddress: Hashable, Sendable, CustomStringConvertible {
    /// `http`, `https` or another scheme, in lower case.
    package let scheme: String
    /// The name or address, in lower case; an address of IPv6 in brackets.
    package let host: String
    /// The port's number; the default of the scheme if the URL names none.
    package let port: String

    /// Nil if libcurl cannot read `url`.
    package init?(_ url: String) {
        guard unsafe curl_load() == nil, let parser = unsafe curl_url() else { return nil }
        defer { unsafe curl_url_cleanup(parser) }
        guard unsafe curl_url_set(parser, CURLUPART_URL, url, 0) == CURLUE_OK else { return nil }
        func part(_ part: CURLUPart) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            let flags = UInt32(CURLU_DEFAULT_PORT)
            guard unsafe curl_url_get_part(parser, part, &text, flags) == CURLUE_OK,
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

    /// The URL of the origin.
    package var description: String { "\(scheme)://\(host):\(port)" }
}

/// The redirects of one request: at most ten, to the same host, and never from https to http.
///
/// The port has to be the same too, except for the step from http to https: a program of another
/// user may listen on another port, and the request carries credentials.
struct Redirect {
    /// The most redirects of one request.
    static let limit = 10

    private let origin: String
    private var count = 0

    /// The redirects of a request to `url`.
    init(from url: String) { origin = url }

    /// Follows one more redirect, or throws why not. The credentials go wherever the request goes.
    mutating func follow(_ url: String, from current: String) throws(TransferError) {
        count += 1
        guard count <= Self.limit else { throw .redirect("more than \(Self.limit) times") }
        guard let origin = WebAddress(origin), let from = WebAddress(current),
            let next = WebAddress(url)
        else { throw .redirect("to an unreadable address") }
        guard next.host == origin.host else { throw .redirect("to another host, '\(next.host)'") }
        guard next.scheme == "http" || next.scheme == "https" else {
            throw .redirect("to '\(next.scheme)', which is not followed")
        }
        let isUpgrade = from.scheme == "http" && next.scheme == "https"
        guard from.scheme == next.scheme || isUpgrade else { throw .redirect("from https to http") }
        guard from.port == next.port || isUpgrade else {
            throw .redirect("to another port, \(next.port)")
        }
    }
}
