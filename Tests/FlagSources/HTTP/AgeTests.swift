import CivilTime
import EventLoop
import HTTP
import Requests
import Support
import Testing

/// What a cache on the way says of the age of its answer.
@Suite(.timeLimit(.minutes(5))) struct AgeTests {
    /// A cache that asked another one wrote both ages, and the answer counted as new.
    @Test(arguments: [
        ("720", 720), ("720, 0", 720), ("720\n0", 720), (" 720 ,0", 720), ("0, 720", 0), ("", nil),
        ("soon", nil), ("-5", nil), ("1.5", nil), ("soon, 720", nil),
        ("99999999999999999999", 86_400 * 366),
    ])
    func theFirstOfSeveralAgesCounts(_ field: String, _ seconds: Int?) async throws {
        let server = try await FlagServer()
        try server.folder.write(field, to: "age")
        try await server.behave("aged")
        let loop = try EventLoop()
        let transfer = try HTTPTransfer(try HTTPClient(loop))
        var result: Result<HTTPResponse, TransferError>?
        let request = HTTPRequest(url: "http://127.0.0.1:\(server.port)/")
        try transfer.send(PreparedRequest(request)) { result = $0 }
        while result == nil { try loop.runOnce(.milliseconds(100)) }
        let response = try #require(try result?.get())
        #expect(response.age == seconds.map { Duration.seconds($0) })
        guard seconds == 720 else { return }
        // The cache keeps the Date of the origin.
        let date = try #require(response.date(now: loop.now.wall))
        #expect((Duration.seconds(-60)...Duration.seconds(60)).contains(loop.now.wall - date))
    }
}
