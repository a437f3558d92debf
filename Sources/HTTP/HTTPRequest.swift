/// An HTTP request and its limits. The method is POST with a body, else GET.
package struct HTTPRequest: Hashable, Sendable {
    /// `http://…` or `https://…`.
    package var url: String
    package var headers: [Header]
    /// The bytes to send. A redirect of a request with a body is not followed.
    package var body: [UInt8]?
    /// The time limit of the whole transfer, redirects included.
    package var timeout: Duration
    /// The size limit of the answer's body, in bytes; it holds before and after decoding.
    package var maxBody: Int
    /// How many bytes are kept of the body of an answer that is no success (2xx).
    package var keptOfRefusal: Int
    /// The path of a file of PEM certificates that replaces the system's authorities.
    package var authorities: String?
    /// The client certificate for a server that asks for one.
    package var identity: Identity?
    /// The path of a Unix socket to connect to, in the place of the host and of any proxy.
    package var unixSocket: String?
    /// Whether it bypasses the proxies that the environment names: for requests to this machine.
    package var isDirect: Bool
    /// Whether a redirect to the same host is followed.
    package var followsRedirects = true

    /// A GET request of 30 s and 1 MiB at most, unless the arguments say otherwise.
    package init(
        url: String, headers: [Header] = [], body: [UInt8]? = nil,
        timeout: Duration = .seconds(30), maxBody: Int = 1 << 20, keptOfRefusal: Int = 0,
        authorities: String? = nil, identity: Identity? = nil, unixSocket: String? = nil,
        isDirect: Bool = false
    ) {
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.maxBody = maxBody
        self.keptOfRefusal = keptOfRefusal
        self.authorities = authorities
        self.identity = identity
        self.unixSocket = unixSocket
        self.isDirect = isDirect
    }
}

/// A request that is sent again and again: a transfer recognises it by the identity of this
/// object, without comparing all of its parts.
package final class PreparedRequest {
    package let request: HTTPRequest

    /// Prepares a request.
    package init(_ request: HTTPRequest) { self.request = request }
}

/// A header field of a request. The caller makes sure that neither part holds a line end.
package struct Header: Hashable, Sendable {
    package var name: String
    package var value: String

    /// A field of this name; the value may be empty.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A client certificate and its key, both PEM.
package struct Identity: Hashable, Sendable {
    package var certificate: [UInt8]
    package var key: [UInt8]

    /// A certificate with its key.
    package init(certificate: [UInt8], key: [UInt8]) {
        self.certificate = certificate
        self.key = key
    }
}
