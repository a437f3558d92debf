package import Files
package import Transfer

/// The settings of a source over HTTP: the URL and how it is requested. Credentials stand in it by name.
package struct Site: Hashable, Sendable {
    /// `http://…` or `https://…`, without user and password.
    package var url: String
    package var headers: [Header]
    package var timeout: Duration
    /// The longest body of an answer, in bytes after decoding.
    package var maxBody: Int
    /// A file of PEM certificates that replaces the system's authorities.
    package var authorities: Credential?
    package var clientCertificate: Credential?
    package var clientKey: Credential?
    /// The token of `Authorization: Bearer` (RFC 6750).
    package var bearer: Credential?
    /// The value of `X-API-Key`.
    package var apiKey: Credential?
    /// The path of the Unix socket that is connected to instead of the host.
    package var unixSocket: String?

    /// Settings; all but the URL have the defaults of the configuration.
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

    /// Whether the request depends on files, which may change.
    var namesSecrets: Bool {
        authorities != nil || clientCertificate != nil || clientKey != nil || bearer != nil
    }

    /// The URL for logs, without its query, which may hold a secret.
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

/// What the sources know of this process and its host: credentials, directories, names.
package struct SourceEnvironment: Hashable, Sendable {
    /// The value of `$CREDENTIALS_DIRECTORY`.
    package var credentialsDirectory: String?
    /// The user this process runs as, who may own secrets beside root.
    package var user: UInt32
    /// The value of `User-Agent`.
    package var agent: String
    /// What servers are told of the host.
    package var host: Host
    /// The value of `$STATE_DIRECTORY`: a source keeps in it what it has to know after a restart.
    package var stateDirectory: String
    /// The value of `$GCE_METADATA_HOST`: the host that stands in for the metadata server.
    package var metadataHost: String?

    /// The environment of a process, as its parts are given.
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
