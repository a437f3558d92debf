import Decision
import EventLoop
import Faults
import Files
import SourceKinds
import Transfer

/// One stream of events that a server offers.
final class EventStream {
    /// Where the next connection goes to.
    var address: EventStreamAddress
    private let server: EvaluationServer
    private let bearings: Bearings
    private let memory = EventMemory()
    private var stream: Stream<EventParser>?

    init(at address: EventStreamAddress, server: EvaluationServer, bearings: Bearings) {
        self.address = address
        self.server = server
        self.bearings = bearings
    }

    /// What the newest event wants told to the server, once.
    var refetch: Refetch? { memory.takeRefetch() }

    func start(
        of name: SourceName, interval: Duration, client: HTTPClient, loop: EventLoop,
        deliver: @escaping Deliver
    ) throws(SystemError) {
        stream = try Stream(
            of: name, policy: Self.policy(server), interval: interval, client: client,
            loop: loop, parser: { [memory] in EventParser(memory) },
            request: { [unowned self] in try request() }, deliver: deliver)
        stream?.start()
    }

    func pollFailed(_ failure: Failure) {
        stream?.pollFailed(failure)
    }

    func pollSucceeded() {
        stream?.pollSucceeded()
    }

    /// Another origin than the server's gets none of our credentials: its address is the key to it.
    private func request() throws(CredentialError) -> HTTPRequest {
        var site = server.site
        if !address.isOwn {
            site.bearer = nil
            site.apiKey = nil
            site.clientCertificate = nil
            site.clientKey = nil
        }
        let secrets = try Secrets(of: site, bearings)
        var request = site.request(with: secrets, agent: bearings.agent)
        request.url = address.url
        request.headers.removeAll { $0.name == "Accept" }
        request.headers += [
            Header("Accept", "text/event-stream"), Header("Cache-Control", "no-cache"),
        ]
        if let id = memory.lastID { request.headers.append(Header("Last-Event-ID", id)) }
        return request
    }

    /// Servers of events send a comment every 15 to 30 seconds.
    private static func policy(_ server: EvaluationServer) -> StreamPolicy {
        StreamPolicy(opening: server.site.timeout, silence: .seconds(300))
    }
}
