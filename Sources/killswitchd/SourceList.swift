import Decision
import EventLoop
import RemoteFlags
import Settings
import Transfer

/// The sources of the configuration, made of what each kind needs. A new kind is one more case here.
final class SourceList {
    private(set) var all: [any FlagSource] = []
    /// Where their events go, once there is somebody to take them.
    var deliver: Deliver = { _ in }

    /// Throws where a source needs the network, and there is no memory or descriptor for that.
    init(_ configured: [Source], on loop: EventLoop, _ bearings: Bearings) throws {
        // One for all, so that sources of one host share its connection.
        var client: Client?
        for source in configured {
            let deliver: Deliver = { [unowned self] event in self.deliver(event) }
            switch source.kind {
            case .file(let path):
                all.append(
                    FileSource(
                        name: source.name, path: path, maxBody: source.maxBody, loop: loop,
                        deliver: deliver))
            case .http(let document):
                let shared = try client ?? Client(loop)
                client = shared
                all.append(
                    HTTPSource(
                        name: source.name, site: Site(document, of: source), bearings: bearings,
                        client: shared, loop: loop, deliver: deliver))
            }
        }
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
