import Decision
import EventLoop
import RemoteFlags
import Settings
import SourceKinds
import Transfer

/// Makes and keeps the sources that are followed. A new kind of source is a new case here.
final class SourceList {
    private let loop: EventLoop
    private let environment: SourceEnvironment
    private var client: HTTPClient?
    private var followed: [(settings: Source, source: any FlagSource)] = []
    /// Receives the sources' events. It is set once the agent exists.
    var deliver: Deliver = { _ in }

    /// A list without sources.
    init(on loop: EventLoop, _ environment: SourceEnvironment) {
        self.loop = loop
        self.environment = environment
    }

    /// The sources of a configuration; an unchanged source keeps its object.
    ///
    /// Throws if a source needs the network and no memory or descriptor is left for it.
    func follow(_ configured: [Source]) throws -> [any FlagSource] {
        var next: [(settings: Source, source: any FlagSource)] = []
        for settings in configured {
            // The interval, the defaults and the place in the configuration do not change a fetch.
            let same = followed.first {
                $0.settings.name == settings.name && $0.settings.kind == settings.kind
            }
            next.append((settings, try same?.source ?? make(settings)))
        }
        followed = next
        return next.map(\.source)
    }

    private func make(_ settings: Source) throws -> any FlagSource {
        let deliver: Deliver = { [unowned self] event in self.deliver(event) }
        let (name, interval) = (settings.name, settings.interval)
        switch settings.kind {
        case .file(let path, let limits):
            return FileSource(
                name: name, path: path, maxBody: limits.maxBody, loop: loop, deliver: deliver)
        case .http(let site):
            return HTTPSource(
                name: name, site: site, environment: environment, client: try sharedClient(),
                loop: loop, deliver: deliver)
        case .etcd(let site):
            return EtcdSource(
                name: name, site: site, interval: interval, environment: environment,
                client: try sharedClient(), loop: loop, deliver: deliver)
        case .ofrep(let site):
            return OFREPSource(
                name: name, site: site, interval: interval, environment: environment,
                client: try sharedClient(), loop: loop, deliver: deliver)
        case .firebase(let site):
            return ClientTemplateSource(
                name: name, site: site, interval: interval, environment: environment,
                client: try sharedClient(), loop: loop, deliver: deliver)
        case .firebaseServer(let site):
            return ServerTemplateSource(
                name: name, site: site, environment: environment, client: try sharedClient(),
                loop: loop, deliver: deliver)
        }
    }

    /// One client for all, so that sources of one host share its connection.
    private func sharedClient() throws -> HTTPClient {
        if let client { return client }
        let made = try HTTPClient(loop)
        client = made
        return made
    }
}
