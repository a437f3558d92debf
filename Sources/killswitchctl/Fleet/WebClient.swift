import CivilTime
import Configuration
import EventLoop
import HTTP

/// Sends requests one after another, and waits for each answer. A terminal shows that after a second.
final class WebClient {
    private let loop: EventLoop
    private let client: HTTPClient
    private let transfer: HTTPTransfer
    /// The header that names this program.
    static let agent = Header("User-Agent", "killswitchctl/\(ProgramVersion.current)")

    init() throws {
        loop = try EventLoop()
        client = try HTTPClient(loop)
        transfer = try HTTPTransfer(client)
    }

    /// The answer, whatever its status, within a time limit. Throws `TransferError`.
    func answer(
        to request: HTTPRequest, within limit: Duration, from place: String
    ) throws -> HTTPResponse {
        var request = request
        request.timeout = limit
        var result: Result<HTTPResponse, TransferError>?
        try transfer.send(PreparedRequest(request)) { result = $0 }
        let start = loop.now.boot
        defer { Terminal.showProgress(nil) }
        while true {
            if let result { return try result.get() }
            try loop.runOnce(.seconds(1))
            let time = (loop.now.boot - start).wholeSeconds
            if time > 0 { Terminal.showProgress("asking '\(place)' … \(time) s") }
        }
    }
}
