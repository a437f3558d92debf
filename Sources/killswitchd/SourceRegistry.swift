import Configuration
import Decision
import EventLoop
import FlagSources
import HTTP
import Reports
import Requests
import SourceSettings

/// Makes and keeps the sources that are followed. A new kind of source is a new case here.
final class SourceRegistry {
    private let loop: EventLoop
    let environment: HostEnvironment
    private var client: HTTPClient?
    private var followed: [(settings: Source, source: any FlagSource)] = []
    /// Receives the sources' events. It is set once the driver exists.
    var deliver: Deliver = { _ in }

    init(on loop: EventLoop, _ environment: HostEnvironment) {
        self.loop = loop
        self.environment = environment
    }

    /// The sources of a configuration; an unchanged source keeps its object. Throws if a source needs the network and
    /// no memory or descriptor is left for it.
    func update(to configured: [Source]) throws -> [any FlagSource] {
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
        func context() throws -> SourceDependencies {
            SourceDependencies(
                name: settings.name, interval: settings.interval, environment: environment,
                client: try sharedClient(), loop: loop, deliver: deliver, signing: settings.signing)
        }
        return switch settings.kind {
        case .file(let path, let limits):
            FileSource(
                name: settings.name, path: path, maxBody: limits.maxBody, loop: loop,
                signers: settings.signing.map(environment.signers), deliver: deliver)
        case .http(let settings): HTTPSource(settings, try context())
        case .etcd(let settings): EtcdSource(settings, try context())
        case .ofrep(let settings): OFREPSource(settings, try context())
        case .firebase(let settings): ClientTemplateSource(settings, try context())
        case .firebaseServer(let settings): ServerTemplateSource(settings, try context())
        }
    }

    /// Where the flags of each source come from.
    var origins: [SourceName: SourceOrigin] {
        let pairs = followed.map { ($0.settings.name, $0.settings.kind.origin) }
        return Dictionary(pairs) { first, _ in first }
    }

    /// The followed cluster of this name.
    func cluster(_ name: SourceName) -> EtcdSource? {
        followed.first { $0.settings.name == name }?.source as? EtcdSource
    }

    /// A sink for documents, over the client of the sources. Throws as `update` does.
    func sink(to settings: HTTPSettings) throws -> DocumentSink {
        DocumentSink(settings, environment, try sharedClient()) { [loop] in loop.now.wall }
    }

    /// One client for all, so that sources of one host share its connection.
    func sharedClient() throws -> HTTPClient {
        if let client { return client }
        let made = try HTTPClient(loop)
        client = made
        return made
    }
}

extension Source.Kind {
    fileprivate var origin: SourceOrigin {
        switch self {
        case .file: SourceOrigin(type: "file", urls: [])
        case .http: SourceOrigin(type: "http", urls: places)
        case .etcd: SourceOrigin(type: "etcd", urls: places)
        case .ofrep: SourceOrigin(type: "ofrep", urls: places)
        case .firebase: SourceOrigin(type: "firebase", urls: places)
        case .firebaseServer: SourceOrigin(type: "firebase-server", urls: places)
        }
    }
}
