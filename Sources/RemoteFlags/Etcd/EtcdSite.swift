package import Files

/// The settings of an etcd cluster that holds flags. Credentials stand in it by name.
package struct EtcdSite: Hashable, Sendable {
    /// The members, `http://HOST:PORT` or `https://HOST:PORT`, at least one. Each may answer.
    package var endpoints: [String]
    /// The beginning of every key. The rest of the key names a flag.
    package var prefix: String
    package var login: EtcdLogin?
    /// The time between two polls.
    package var interval: Duration
    /// Limits and credentials; an endpoint takes the place of its `url` in each request.
    package var server: Site

    /// The settings; `server` has no URL.
    package init(
        endpoints: [String], prefix: String, login: EtcdLogin? = nil, interval: Duration,
        server: Site
    ) {
        self.endpoints = endpoints
        self.prefix = prefix
        self.login = login
        self.interval = interval
        self.server = server
    }

    /// The prefix, the user and the endpoints. There is no secret in it.
    var binding: String {
        let user = login.map { " as \($0.user)" } ?? ""
        return "etcd:\(prefix)\(user) at \(endpoints.sorted().joined(separator: ","))"
    }
}

/// A user of an etcd cluster.
package struct EtcdLogin: Hashable, Sendable {
    package var user: String
    package var password: Credential

    /// A user with a password by name.
    package init(user: String, password: Credential) {
        self.user = user
        self.password = password
    }
}
