import CivilTime
import EventLoop
import Glibc
import HTTP
import Support
import Testing

@Suite(.timeLimit(.minutes(5))) struct HTTPTransferTests {
    /// A server, a loop with one client and an exchange, and the results of its requests.
    private final class Scene {
        let server: FlagServer
        let loop: EventLoop
        let client: HTTPClient
        let transfer: HTTPTransfer
        var results: [Result<HTTPResponse, TransferError>] = []

        init(_ behaviour: String? = nil) async throws {
            server = try await FlagServer()
            if let behaviour { try await server.behave(behaviour) }
            loop = try EventLoop()
            client = try HTTPClient(loop)
            transfer = try HTTPTransfer(client)
        }

        /// The address of the server, with a slash at the end.
        var url: String { "http://127.0.0.1:\(server.port)/" }

        /// Sends a request and runs the loop until it has ended.
        func get(_ request: HTTPRequest) throws -> HTTPResponse {
            try get(PreparedRequest(request))
        }

        /// Sends a prepared request, which may have been sent before.
        func get(_ request: PreparedRequest) throws -> HTTPResponse {
            let count = results.count
            try transfer.send(request) { [unowned self] in results.append($0) }
            #expect(results.count == count, "send reports nothing before it returns")
            while results.count == count { try loop.runOnce(.milliseconds(100)) }
            return try results[count].get()
        }
    }

    @Test func anExchangeCarriesOneRequestAfterAnotherAndFindsHeadersInAnyCase() async throws {
        let scene = try await Scene()
        let request = HTTPRequest(url: scene.url + "a?b")
        for _ in 0..<3 {
            let response = try scene.get(request)
            #expect(response.status == 200)
            #expect(response.headers["etag"] == #""running""#)
            #expect(response.headers["x-none"] == nil)
            #expect(
                String(decoding: response.body, as: UTF8.self)
                    == #"{"apiInactive": false, "forceUpdate": false}"#)
        }
        #expect(try scene.server.requests.map(\.path) == ["/a?b", "/a?b", "/a?b"])
    }

    @Test func aPreparedRequestIsSentAgainAsItWasWhateverWentBetween() async throws {
        let scene = try await Scene()
        let prepared = ["one", "two"].map { word in
            PreparedRequest(HTTPRequest(url: scene.url + word, headers: [Header("X-Word", word)]))
        }
        let order = [0, 0, 1, 0, 1, 1]
        for index in order { _ = try scene.get(prepared[index]) }
        let words = order.map { ["one", "two"][$0] }
        #expect(try scene.server.requests.map(\.path) == words.map { "/" + $0 })
        #expect(try scene.server.requests.map { $0.headers["x-word"] } == words)
    }

    /// The second request reuses the connection inside the handler of its socket. Watching the socket again
    /// once failed silently there, and the answer was never seen.
    @Test func anExchangeMayBeginInTheCompletionOfAnother() async throws {
        let scene = try await Scene()
        let (first, second) = (try HTTPTransfer(scene.client), try HTTPTransfer(scene.client))
        let request = PreparedRequest(HTTPRequest(url: scene.url, timeout: .seconds(5)))
        for round in 1...50 {
            try first.send(request) { _ in
                do {
                    try second.send(request) { scene.results.append($0) }
                } catch {
                    Issue.record("\(error)")
                }
            }
            while scene.results.count < round { try scene.loop.runOnce(.milliseconds(100)) }
            #expect(try scene.results.last?.get().status == 200)
        }
    }

    @Test func theBodyMayHaveExactlyAsManyBytesAsTheLimit() async throws {
        let scene = try await Scene()
        #expect(try scene.get(HTTPRequest(url: scene.url, maxBody: 44)).body.count == 44)
        #expect(throws: TransferError.bodyOver(limit: 43)) {
            try scene.get(HTTPRequest(url: scene.url, maxBody: 43))
        }
    }

    @Test func aBodyMakesItAPostAndTheNextWithoutIsAGetAgain() async throws {
        let scene = try await Scene()
        let bodies: [[UInt8]?] = [Array(#"{"a": 1}"#.utf8), [], nil, Array("b".utf8)]
        for body in bodies {
            let request = HTTPRequest(url: scene.url, body: body)
            #expect(try scene.get(request).status == 200)
        }
        #expect(try scene.server.requests.map(\.method) == ["POST", "POST", "GET", "POST"])
        #expect(try scene.server.requests.map(\.body) == [#"{"a": 1}"#, "", "", "b"])
    }

    /// The body of a request goes only to the configured server.
    @Test func aRedirectOfAPostIsNotFollowed() async throws {
        let scene = try await Scene("redirect-once")
        let request = HTTPRequest(url: scene.url, body: [])
        #expect(try scene.get(request).status == 302)
        #expect(try scene.server.requests.count == 1)
    }

    /// A proxy sent it to an idle connection as the next poll began: it was the answer of a poll that nobody had read.
    @Test(arguments: [nil, Array("{}".utf8)])
    func aRequestIsRepeatedOnANewConnectionAfterATimeOutOfAnIdleOne(_ body: [UInt8]?) async throws {
        let scene = try await Scene("idle-408")
        let request = PreparedRequest(HTTPRequest(url: scene.url, body: body))
        for _ in 0..<3 { #expect(try scene.get(request).status == 200) }
        // The first connection is new, and the two later ones have been idle.
        let methods = try scene.server.requests.map(\.method)
        #expect(methods == Array(repeating: body == nil ? "GET" : "POST", count: 5))
    }

    /// Each request is sent once more at most. The first connection is new.
    @Test func aTimeOutOfANewConnectionIsAnErrorResponse() async throws {
        let scene = try await Scene("408")
        let request = PreparedRequest(HTTPRequest(url: scene.url))
        for count in [1, 3, 5] {
            #expect(try scene.get(request).status == 408)
            #expect(try scene.server.requests.count == count)
        }
        try await scene.server.behave("running")
        #expect(try scene.get(request).status == 200)
        #expect(try scene.server.requests.count == 6)
    }

    @Test func theBodyOfAnErrorResponseIsKeptUpToTheLimit() async throws {
        let scene = try await Scene("404")
        for (kept, text) in [(0, ""), (5, #"{"api"#), (10_000, scene.server.order)] {
            let response = try scene.get(HTTPRequest(url: scene.url, keptOfRefusal: kept))
            #expect(String(decoding: response.body, as: UTF8.self) == text)
        }
    }

    @Test func aCancelledRequestReportsNothingAndTheNextOneDoes() async throws {
        let scene = try await Scene("silence")
        let request = PreparedRequest(HTTPRequest(url: scene.url))
        try scene.transfer.send(request) { _ in Issue.record("a cancelled request was told of") }
        for _ in 0..<5 { try scene.loop.runOnce(.milliseconds(20)) }
        scene.transfer.cancel()
        try await scene.server.behave("running")
        #expect(try scene.get(request).status == 200)
    }

    /// Such a request once crashed the daemon. The replaced request reports nothing.
    @Test func aNewRequestReplacesTheOneInFlight() async throws {
        let scene = try await Scene("silence")
        let request = PreparedRequest(HTTPRequest(url: scene.url + "flags"))
        try scene.transfer.send(request) { _ in
            Issue.record("the first request was told of")
        }
        for _ in 0..<100 where try scene.server.requests.isEmpty {
            try scene.loop.runOnce(.milliseconds(20))
        }
        try await scene.server.behave("maintenance")
        let response = try scene.get(HTTPRequest(url: scene.url + "flags"))
        #expect(response.status == 200)
        #expect(scene.results.count == 1)
    }

    /// The status of an error response counts, although its body is larger than the limit.
    @Test func anErrorResponseWithALongBodyKeepsItsStatus() async throws {
        let scene = try await Scene("404")
        let request = HTTPRequest(url: scene.url, maxBody: 3)
        let response = try scene.get(request)
        #expect(response.status == 404)
        #expect(response.body.isEmpty)
    }

    @Test(
        arguments: [
            ("http://127.0.0.1:1/", .notConnected("connection refused")),
            ("http://127.0.0.1:99999/", .notStarted("")),
        ] as [(String, TransferError)])
    func anAddressThatCannotBeReachedIsAnError(_ url: String, _ expected: TransferError)
        async throws
    {
        let scene = try await Scene()
        let error = #expect(throws: TransferError.self) { try scene.get(HTTPRequest(url: url)) }
        switch (error, expected) {
        case (.notStarted?, .notStarted): break
        default: #expect(error == expected)
        }
    }
}
