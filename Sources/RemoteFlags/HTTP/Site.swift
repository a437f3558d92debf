package import Files
package import Transfer

/// What a source over HTTP asks, and how: its settings, the secrets in them by name.
package struct Site: Hashable, Sendable {
    /// `http://…` or `https://…`, without user and password.
    package var url: String
    package var headers: [Header]
    package var timeout: Duration
    /// The longest body of an answer, in bytes after decoding.
    package var maxBody: Int
    /// What is put in the place of the system's authorities.
    package var authorities: Credential?
    package var clientCertificate: Credential?
    package var clientKey: Credential?
    /// The token of `Authorization: Bearer` (RFC 6750).
    package var bearer: Credential?
    /// The value of `X-API-Key`.
    package var apiKey: Credential?
    package var unixSocket: String?

    package init(
        url: String, headers: [Header] = [], timeout: Duration = .seconds(30),
        maxBody: Int = 1 << 20, authorities: Credential? = nil,
        clientCertificate: Credential? = nil, clientKey: Credential? = nil,
        bearer: Credential? = nil, apiKey: Credential? = nil, unixSocket: String? = nil
    ) {
        self.url = url
        self.headers = headers
        self.timeout = timeout
        self.maxBody = maxBody
        self.authorities = authorities
        self.clientCertificate = clientCertificate
        self.clientKey = clientKey
        self.bearer = bearer
        self.apiKey = apiKey
        self.unixSocket = unixSocket
    }

    /// Whether what is asked depends on files, which may change.
    var namesSecrets: Bool {
        authorities != nil || clientCertificate != nil || clientKey != nil || bearer != nil
    }

    /// The URL as it may stand in a log: a query may hold a secret.
    var shownURL: String {
        guard let query = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return url }
        return "\(url[..<query])?…"
    }
}

extension Site {
    /// The request for the flags, without conditions.
    func request(with secrets: Secrets, agent: String) -> HTTPRequest {
        var own = [Header("Accept", "application/json"), Header("User-Agent", agent)]
        own.removeAll { mine in headers.contains { $0.name.lowercased() == mine.name.lowercased() }
        }
        if let token = secrets.bearer { own.append(Header("Authorization", "Bearer \(token)")) }
        if let key = secrets.apiKey { own.append(Header("X-API-Key", key)) }
        return HTTPRequest(
            url: url, headers: own + headers, timeout: timeout, maxBody: maxBody,
            authorities: secrets.authorities, identity: secrets.identity, unixSocket: unixSocket)
    }
}

/// What this process is to credentials and to servers.
package struct Bearings: Hashable, Sendable {
    /// The value of `$CREDENTIALS_DIRECTORY`.
    package var credentialsDirectory: String?
    /// The user this process runs as, who may own secrets beside root.
    package var user: UInt32
    /// The value of `User-Agent`.
    package var agent: String
    /// What it runs on.
    package var host: Host
    /// The value of `$STATE_DIRECTORY`, for what a source has to know after a restart.
    package var stateDirectory: String
    /// The value of `$GCE_METADATA_HOST`: who answers for the metadata server.
    package var metadataHost: String?

    package init(
        credentialsDirectory: String?, user: UInt32, agent: String, host: Host = Host(),
        stateDirectory: String, metadataHost: String? = nil
    ) {
        self.credentialsDirectory = credentialsDirectory
        self.user = user
        self.agent = agent
        self.host = host
        self.stateDirectory = stateDirectory
        self.metadataHost = metadataHost
    }
}
