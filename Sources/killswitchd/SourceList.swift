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
                    && $0.settings.signing == settings.signing
            }
            next.append((settings, try same?.source ?? make(settings)))
        }
        followed = next
        return next.map(\.source)
    }

    private func make(_ settings: Source) throws -> any FlagSource {
        let deliver: Deliver = { [unowned self] event in self.deliver(event) }
        func context() throws -> SourceContext {
            SourceContext(
                name: settings.name, interval: settings.interval, environment: environment,
                client: try sharedClient(), loop: loop, deliver: deliver, signing: settings.signing)
        }
        return switch settings.kind {
        case .file(let path, let limits):
            FileSource(
                name: settings.name, path: path, maxBody: limits.maxBody,
                runtimeDirectory: environment.runtimeDirectory, loop: loop,
                signers: settings.signing.map(environment.signers), deliver: deliver)
        case .http(let site): HTTPSource(site, try context())
        case .etcd(let site): EtcdSource(site, try context())
        case .ofrep(let site): OFREPSource(site, try context())
        case .firebase(let site): ClientTemplateSource(site, try context())
        case .firebaseServer(let site): ServerTemplateSource(site, try context())
        }
    }

    /// A sink for documents, over the client of the sources. Throws as `follow` does.
    func sink(to site: Site) throws -> DocumentSink {
        DocumentSink(site, environment, try sharedClient()) { [loop] in loop.now.wall }
    }

    /// The names of this host.
    var host: Host { environment.host }

    /// One client for all, so that sources of one host share its connection.
    private func sharedClient() throws -> HTTPClient {
        if let client { return client }
        let made = try HTTPClient(loop)
        client = made
        return made
    }
}
