import Files
import HTTP
import POSIX
import Requests
import SourceSettings

/// A stream of events that a server offers.
final class EventStream {
    var address: EventStreamAddress
    private(set) var stream: Stream<EventParser>?
    /// The memory, which has the validators that the newest event announced.
    let memory = EventMemory()
    private let server: HTTPSettings
    private let environment: HostEnvironment

    /// Connects, and follows the stream until this object goes.
    init(
        at address: EventStreamAddress, _ server: HTTPSettings, _ context: SourceDependencies
    ) throws(SystemError) {
        self.address = address
        self.server = server
        environment = context.environment
        // Servers of events send a comment every 15 to 30 seconds.
        let policy = StreamPolicy(opening: server.limits.timeout, silence: .seconds(300))
        stream = try Stream(
            for: context, policy, parser: { [memory] in EventParser(memory) },
            request: { [unowned self] in try request() })
        stream?.start()
    }

    /// The address is the key to a stream at another origin than the server's: it gets no credentials.
    private func request() throws(CredentialError) -> HTTPRequest {
        var place = server
        if !address.isOwn {
            place.credentials = place.credentials.filter { $0.key == .authorities }
        }
        var request = try place.request(in: environment)
        request.url = address.url
        request.headers.removeAll { $0.name == "Accept" }
        request.headers.append(Header("Accept", "text/event-stream"))
        if let id = memory.lastID { request.headers.append(Header("Last-Event-ID", id)) }
        return request
    }
}

/// The URL of a stream of events, checked, and whether it is at the server's own origin.
package struct EventStreamAddress: Hashable {
    package let url: String
    /// Whether it has the origin of the server that offers it. No other origin gets credentials.
    package let isOwn: Bool

    /// Why the address that a server names for its stream is not followed.
    package enum Refusal: Error, Hashable {
        /// It is no URL that can be asked for, or leads from https to http.
        case unusable
        /// It is at this origin, which the administrator did not name: a server that somebody has taken over
        /// could have each host ask any address that the host can reach.
        case foreign(String)
    }

    /// The address in an entry. It has to be at the origin of the server, or at one of `hosts`.
    package init(
        _ entry: EventStreamEntry, of server: String, or hosts: [String] = []
    ) throws(Refusal) {
        guard let home = WebAddress(server) else { throw .unusable }
        url = (entry.origin ?? "\(home)") + entry.rest
        // libcurl takes no other bytes; with a space the URL would make another request.
        guard url.isVisibleASCII, url.utf8.count <= 8192,
            let address = WebAddress(url), ["http", "https"].contains(address.scheme),
            home.scheme == address.scheme || address.scheme == "https"
        else { throw .unusable }
        isOwn = address == home
        guard isOwn || hosts.contains(where: { WebAddress($0) == address }) else {
            throw .foreign("\(address)")
        }
    }
}
