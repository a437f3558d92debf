package import Files
package import JSON

/// How long one fetch may take, and how large an answer may be.
package struct FetchLimits: Hashable, Sendable {
    package var timeout: Duration
    /// The longest body of an answer, in bytes after decoding.
    package var maxBody: Int

    /// Limits, with the default for each limit that is not given.
    package init(timeout: Duration = Self.defaultTimeout, maxBody: Int = Self.defaultMaxBody) {
        self.timeout = timeout
        self.maxBody = maxBody
    }

    /// The limits if the configuration names none; `defaultMaxBody` is in bytes.
    package static let defaultTimeout = Duration.seconds(30)
    package static let defaultMaxBody = 1 << 20

    /// The highest `maxBody` that the configuration may name.
    package static let largestMaxBody = 64 << 20
}

/// Who has to sign the documents of a source, and for whom.
package struct SigningRule: Hashable, Sendable {
    /// The path of the file of allowed signers.
    package var signers: String
    /// For whom the documents have to be, such as `prod`.
    package var audience: String

    /// Documents by these signers, for this audience.
    package init(signers: String, audience: String) {
        self.signers = signers
        self.audience = audience
    }
}

/// A document on a web server, or what other network sources share with it. Secrets are named, not held.
package struct HTTPSettings: Hashable, Sendable {
    /// `http://…` or `https://…`, without user and password.
    package var url: String
    /// The addresses that have the same signed document, two at least, of which `url` is the first; empty for one
    /// address.
    package var mirrors: [String] = []
    /// Header fields that the administrator adds to every request.
    package var headers: [HeaderField] = []
    package var credentials: [CredentialRole: Credential] = [:]
    /// The path of a Unix socket to connect to in place of the URL's host.
    package var unixSocket: String?
    package var limits: FetchLimits

    /// A site without credentials and headers.
    package init(url: String, limits: FetchLimits = FetchLimits()) {
        self.url = url
        self.limits = limits
    }
}

extension HTTPSettings {
    /// The settings of each address: of each mirror, or of the one.
    package var addresses: [HTTPSettings] {
        if mirrors.isEmpty { return [self] }
        return mirrors.map { url in
            var settings = self
            (settings.url, settings.mirrors) = (url, [])
            return settings
        }
    }
}

/// What a credential of a site is for. Code goes by these cases, so that none is forgotten.
package enum CredentialRole: Hashable, Sendable, CaseIterable {
    /// The token of `Authorization: Bearer` (RFC 6750).
    case bearer
    /// The value of `X-API-Key`.
    case apiKey
    case clientCertificate
    /// Missing if the file of the client certificate holds the key too.
    case clientKey
    /// A file of CA certificates that replaces the CA certificates of the system.
    case authorities
}

extension HTTPSettings {
    /// Whether nobody else may read the file of a credential.
    package func isSecret(_ role: CredentialRole) -> Bool {
        switch role {
        case .bearer, .apiKey, .clientKey: true
        case .clientCertificate: credentials[.clientKey] == nil
        case .authorities: false
        }
    }
}

/// A header field of a request.
package struct HeaderField: Hashable, Sendable {
    package var name: String
    package var value: String

    /// A field as it is sent, without the line end.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// An etcd cluster that holds flags, and how to ask it.
package struct EtcdSettings: Hashable, Sendable {
    /// The members, at least one: `http://HOST:PORT` or `https://HOST:PORT`, no slash at the end. Each may answer.
    package var endpoints: [String]
    /// The beginning of every key. The rest of a key is the name of a flag.
    package var prefix: String
    package var login: Login?
    /// The certificates and limits for every endpoint. Its `url` is empty. Its time limit covers a whole fetch, over
    /// all endpoints that it tries.
    package var server: HTTPSettings

    /// A user of etcd and the password.
    package struct Login: Hashable, Sendable {
        package var user: String
        package var password: Credential

        /// A user with the credential of its password.
        package init(user: String, password: Credential) {
            self.user = user
            self.password = password
        }
    }

    /// All settings of kind `etcd`.
    package init(
        endpoints: [String], prefix: String, login: Login?, server: HTTPSettings
    ) {
        self.endpoints = endpoints
        self.prefix = prefix
        self.login = login
        self.server = server
    }

    /// The beginning of the keys in which hosts say what they are: `/flags-hosts/` beside `/flags/`. The id of the
    /// machine follows.
    package var hostsPrefix: String { besides("-hosts/") }

    /// The same for their signs of life. A role needs the right to `hostsStem`, with which both begin.
    package var signsPrefix: String { besides("-hosts-alive/") }

    package var hostsStem: String { besides("-hosts") }

    private func besides(_ suffix: String) -> String {
        (prefix.hasSuffix("/") ? String(prefix.dropLast()) : prefix) + suffix
    }
}

/// A server that evaluates flags for a context: OpenFeature Remote Evaluation Protocol 0.3.0.
package struct OFREPSettings: Hashable, Sendable {
    /// Its `url` is the part before `/ofrep`, without a slash at the end.
    package var server: HTTPSettings
    /// Members that the administrator adds to the context, or replaces in it.
    package var context: JSON.Object
    /// The other origins, such as `https://events.example.com`, at which its stream of events may be.
    package var streamHosts: [String]

    /// All settings of kind `ofrep`.
    package init(server: HTTPSettings, context: JSON.Object, streamHosts: [String] = []) {
        self.server = server
        self.context = context
        self.streamHosts = streamHosts
    }
}

/// The client template of a Firebase project, evaluated by the service, and how to ask for it.
package struct FirebaseSettings: Hashable, Sendable {
    package var project: String
    package var apiKey: String
    package var appID: String
    /// URLs of services here and below have no slash at the end.
    package var baseURL: String
    /// The URL of the stream of invalidations; nil if the stream is not followed.
    package var realtimeURL: String?
    /// The URL where the installation is registered; nil if no token is asked for.
    package var installationsURL: String?
    package var limits: FetchLimits

    /// All settings of kind `firebase`.
    package init(
        project: String, apiKey: String, appID: String, baseURL: String, realtimeURL: String?,
        installationsURL: String?, limits: FetchLimits
    ) {
        self.project = project
        self.apiKey = apiKey
        self.appID = appID
        self.baseURL = baseURL
        self.realtimeURL = realtimeURL
        self.installationsURL = installationsURL
        self.limits = limits
    }
}

/// The server template of a Firebase project, evaluated on this host, and how to ask for it.
package struct FirebaseServerSettings: Hashable, Sendable {
    package var project: String
    /// The key of a service account; nil is the machine's own account, by its metadata server.
    package var credential: Credential?
    /// `https://…`, without a slash at the end.
    package var baseURL: String
    /// The OAuth scope of access tokens.
    package var scope: String
    /// The id by which percent conditions choose this host; nil is an id made of the machine id.
    package var randomizationID: String?
    /// The custom signals of this host, for the conditions of a template: strings and numbers.
    package var signals: JSON.Object
    package var limits: FetchLimits

    /// All settings of kind `firebase-server`.
    package init(
        project: String, credential: Credential?, baseURL: String, scope: String,
        randomizationID: String?, signals: JSON.Object, limits: FetchLimits
    ) {
        self.project = project
        self.credential = credential
        self.baseURL = baseURL
        self.scope = scope
        self.randomizationID = randomizationID
        self.signals = signals
        self.limits = limits
    }
}

/// A question to a server that watches hosts: may a step come?
package struct GuardSettings: Hashable, Sendable {
    package var question: Question
    /// Its `url` is the place that is asked. For a query it is the part before `/api/v1/query`, without a slash at the
    /// end.
    package var server: HTTPSettings

    package enum Question: Hashable, Sendable {
        /// An instant query to Prometheus.
        case query(String)
        /// The status of a document.
        case status
    }

    /// A question to this server.
    package init(_ question: Question, server: HTTPSettings) {
        self.question = question
        self.server = server
    }

    /// How long an answer may take if the configuration does not say.
    package static let defaultTimeout = Duration.seconds(5)

    /// The address that is asked, as others may see it.
    package var shownAddress: String {
        server.url.withoutSecrets + (server.unixSocket.map { " by \($0)" } ?? "")
    }
}
