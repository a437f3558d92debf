import Decision
import EventLoop
import RemoteFlags
import Settings
import Transfer

/// The sources that are followed, made of what each kind needs. A new kind is one more case here.
final class SourceList {
    private let loop: EventLoop
    private let environment: SourceEnvironment
    private var client: HTTPClient?
    private var followed: [(settings: Source, source: any FlagSource)] = []
    /// Where their events go, once there is somebody to take them.
    var deliver: Deliver = { _ in }

    init(on loop: EventLoop, _ environment: SourceEnvironment) {
        self.loop = loop
        self.environment = environment
    }

    /// The sources of a configuration; those that stay as they were are the objects of before.
    ///
    /// Throws where a source needs the network, and there is no memory or descriptor for that.
    func follow(_ configured: [Source]) throws -> [any FlagSource] {
        var next: [(settings: Source, source: any FlagSource)] = []
        for settings in configured {
            let same = followed.first { $0.settings.fetches(like: settings) }
            next.append((settings, try same?.source ?? make(settings)))
        }
        followed = next
        return next.map(\.source)
    }

    private func make(_ settings: Source) throws -> any FlagSource {
        let deliver: Deliver = { [unowned self] event in self.deliver(event) }
        switch settings.kind {
        case .file(let path):
            return FileSource(
                name: settings.name, path: path, maxBody: settings.maxBody, loop: loop,
                deliver: deliver)
        case .http(let document):
            return HTTPSource(
                name: settings.name, site: Site(document, of: settings), environment: environment,
                client: try sharedClient(), loop: loop, deliver: deliver)
        case .etcd(let cluster):
            return EtcdSource(
                name: settings.name, site: EtcdSite(cluster, of: settings),
                environment: environment,
                client: try sharedClient(), loop: loop, deliver: deliver)
        case .ofrep(let evaluation):
            return OFREPSource(
                name: settings.name, site: EvaluationSite(evaluation, of: settings),
                environment: environment, client: try sharedClient(), loop: loop, deliver: deliver)
        case .firebase(let app):
            return ClientTemplateSource(
                name: settings.name, site: ClientTemplateSite(app, of: settings),
                environment: environment, client: try sharedClient(), loop: loop, deliver: deliver)
        case .firebaseServer(let project):
            return ServerTemplateSource(
                name: settings.name,
                site: ServerTemplateSite(project, of: settings, environment.host),
                environment: environment, client: try sharedClient(), loop: loop, deliver: deliver)
        }
    }

    /// One for all, so that sources of one host share its connection.
    private func sharedClient() throws -> HTTPClient {
        if let client { return client }
        let made = try HTTPClient(loop)
        client = made
        return made
    }
}

extension Site {
    fileprivate init(_ document: Source.Document, of source: Source) {
        self.init(
            url: document.url, headers: document.headers.map { Header($0.name, $0.value) },
            timeout: source.timeout, maxBody: source.maxBody, authorities: document.ca,
            clientCertificate: document.clientCertificate, clientKey: document.clientKey,
            bearer: document.bearer, unixSocket: document.unixSocket)
    }
}

extension EtcdSite {
    fileprivate init(_ cluster: Source.Cluster, of source: Source) {
        let server = Site(
            url: "", timeout: source.timeout, maxBody: source.maxBody, authorities: cluster.ca,
            clientCertificate: cluster.clientCertificate, clientKey: cluster.clientKey)
        self.init(
            endpoints: cluster.endpoints, prefix: cluster.prefix,
            login: cluster.login.map { EtcdLogin(user: $0.user, password: $0.password) },
            interval: source.interval, server: server)
    }
}

extension EvaluationSite {
    fileprivate init(_ evaluation: Source.Evaluation, of source: Source) {
        let server = Site(
            url: evaluation.url, timeout: source.timeout, maxBody: source.maxBody,
            authorities: evaluation.ca, clientCertificate: evaluation.clientCertificate,
            clientKey: evaluation.clientKey, bearer: evaluation.bearer, apiKey: evaluation.apiKey)
        self.init(server: server, context: evaluation.context, interval: source.interval)
    }
}

extension Source {
    /// Whether one object can fetch for both: all but when it is asked, what is made of the answers,
    /// and where it is written.
    fileprivate func fetches(like other: Source) -> Bool {
        var same = other
        same.interval = interval
        same.defaults = defaults
        same.origin = origin
        return self == same
    }
}
