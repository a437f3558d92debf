package import Files

/// An etcd cluster that holds flags, and how it is asked: its settings, the secrets in them by name.
package struct Cluster: Hashable, Sendable {
    /// The members, `http://HOST:PORT` or `https://HOST:PORT`, at least one. Each may answer.
    package var endpoints: [String]
    /// What every key begins with. The rest of it names a flag.
    package var prefix: String
    package var login: Login?
    /// How long a fetch may take, however many endpoints it comes to.
    package var timeout: Duration
    /// The longest answer, in bytes.
    package var maxBody: Int
    /// From one poll to the next.
    package var interval: Duration
    /// What is put in the place of the system's authorities.
    package var authorities: Credential?
    package var clientCertificate: Credential?
    package var clientKey: Credential?

    /// As whom we ask, where the cluster wants to know.
    package struct Login: Hashable, Sendable {
        package var user: String
        package var password: Credential

        package init(user: String, password: Credential) {
            self.user = user
            self.password = password
        }
    }

    package init(
        endpoints: [String], prefix: String, login: Login? = nil,
        timeout: Duration = .seconds(30), maxBody: Int = 1 << 20,
        interval: Duration = .seconds(60), authorities: Credential? = nil,
        clientCertificate: Credential? = nil, clientKey: Credential? = nil
    ) {
        self.endpoints = endpoints
        self.prefix = prefix
        self.login = login
        self.timeout = timeout
        self.maxBody = maxBody
        self.interval = interval
        self.authorities = authorities
        self.clientCertificate = clientCertificate
        self.clientKey = clientKey
    }

    /// The part that it has in common with any place on the web; the endpoint is put in for each
    /// request.
    var site: Site {
        Site(
            url: "", timeout: timeout, maxBody: maxBody, authorities: authorities,
            clientCertificate: clientCertificate, clientKey: clientKey)
    }

    /// What answers depend on besides time. There is no secret in it.
    var binding: String {
        let user = login.map { " as \($0.user)" } ?? ""
        return "etcd:\(prefix)\(user) at \(endpoints.sorted().joined(separator: ","))"
    }
}
