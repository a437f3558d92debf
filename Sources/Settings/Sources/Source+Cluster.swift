package import Files

extension Source {
    /// An etcd cluster that holds flags, and how it is asked.
    package struct Cluster: Hashable, Sendable {
        /// `http://HOST:PORT` or `https://HOST:PORT`, at least one, without a slash at the end.
        package var endpoints: [String]
        package var prefix: String
        package var login: Login?
        package var ca: Credential?
        package var clientCertificate: Credential?
        package var clientKey: Credential?
    }

    /// A user of etcd and the password.
    package struct Login: Hashable, Sendable {
        package var user: String
        package var password: Credential
    }
}
