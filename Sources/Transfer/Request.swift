/// What to ask for, and under which conditions: an HTTP request of method GET, or POST where it has a
/// body.
package struct Request: Hashable, Sendable {
    /// `http://…` or `https://…`.
    package var url: String
    package var headers: [Header]
    /// What is sent, as it is. Redirects of a request that has such are not followed.
    package var body: [UInt8]?
    /// How long all of it may take, redirects included.
    package var timeout: Duration
    /// The longest body that is taken, in bytes after decoding.
    package var maxBody: Int
    /// How much is kept of the body of an answer that is no success.
    package var keptOfRefusal: Int
    /// A file of PEM certificates that replaces the system's authorities.
    package var authorities: String?
    /// Who we are, to a server that asks.
    package var identity: Identity?
    /// The Unix socket that stands for the host, and for any proxy.
    package var unixSocket: String?
    /// Whether it goes to the host itself, whatever proxies the environment names: for what is for
    /// this machine alone.
    package var isDirect: Bool

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

/// A request that is sent again and again: an exchange knows what it has sent last by this object, and
/// does not compare one part after the other.
package final class PreparedRequest {
    package let request: Request

    package init(_ request: Request) {
        self.request = request
    }
}

/// A header field of a request. Whoever makes one sees to it that no line ends in it.
package struct Header: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A client certificate and its key, both PEM.
package struct Identity: Hashable, Sendable {
    package var certificate: [UInt8]
    package var key: [UInt8]

    package init(certificate: [UInt8], key: [UInt8]) {
        self.certificate = certificate
        self.key = key
    }
}
