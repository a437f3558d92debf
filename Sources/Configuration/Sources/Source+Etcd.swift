import JSON
import SourceSettings

/// The keys of a `[source.NAME]` of type `etcd`, besides those of every type and of connections.
enum EtcdKey: String, SettingKey {
    case endpoints
    case prefix
    case user
    case password
}

extension SourceType {
    /// The keys of an etcd cluster with a prefix. No address implies it: a cluster has several endpoints.
    static let etcd = SourceType(
        word: "etcd", keys: EtcdKey.words + HTTPKey.wordsOfConnections + SigningKey.words,
        isSignable: true,
        // A watch at a member that hangs is silent: then the next poll brings an order.
        interval: .seconds(15),
        read: { reader, limits in
            let endpoints = reader.required(
                EtcdKey.endpoints,
                .origins(
                    "endpoint", such: "https://etcd-1.example.com:2379",
                    login: "'user' and 'password'"))
            let prefix = reader.required(EtcdKey.prefix, .text("prefix"))
            let login = reader.login()
            var settings = HTTPSettings(url: "", limits: limits)
            reader.readCertificates(into: &settings)
            guard let endpoints, let prefix else { return nil }
            reader.checkCredentials(for: endpoints, "an endpoint is")
            return .etcd(
                EtcdSettings(
                    endpoints: endpoints, prefix: prefix, login: login, server: settings))
        })
}

extension TableDecoder {
    /// The user and the password; either without the other is an error.
    fileprivate func login() -> EtcdSettings.Login? {
        let user = optional(EtcdKey.user, .text("user"))
        let password = optional(EtcdKey.password, .secret)
        if let user, let password { return EtcdSettings.Login(user: user, password: password) }
        require(EtcdKey.password, "a ", beside: EtcdKey.user)
        require(EtcdKey.user, "a ", beside: EtcdKey.password)
        return nil
    }
}

extension ValueType where Value == [String] {
    /// Scheme, host and port of at least one `thing`. `login` names the keys for a login.
    static func origins(_ thing: String, such example: String, login: String) -> Self {
        .list(
            expected: "a list of URLs such as [\"\(example)\"]", \.self,
            problem: { $0 == 0 ? "it is empty" : nil }
        ) { element throws(ValueProblem) in
            guard case .string(let text) = element else { throw .wrongType() }
            let endpoint = text.hasSuffix("/") ? String(text.dropLast()) : text
            let url = URLText(endpoint)
            let isLonger = url.authority.endIndex < url.text.endIndex
            let more = isLonger ? "leave out what follows the port" : nil
            if let problem = url.problem(login: login) ?? more {
                throw .bad(thing, cause: "\(text.shown): \(problem)")
            }
            return endpoint
        }
    }
}
