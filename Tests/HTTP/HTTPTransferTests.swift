import CivilTime
import EventLoop
import Glibc
import HTTP
import Support
import Testing

/// Exchanges by libcurl, with `FlagServer`.
@Suite(.timeLimit(.minutes(5))) struct HTTPTransferTests {
    /// A loop with one client, and the results of its requests.
    private final class Scene {
        let loop: EventLoop
        let client: HTTPClient
        var results: [Result<HTTPResponse, TransferError>] = []

        init() throws {
            loop = try EventLoop()
            client = try HTTPClient(loop)
        }

        /// Sends a request and runs the loop until it has ended.
        func get(_ request: HTTPRequest, by transfer: HTTPTransfer) throws -> HTTPResponse {
            try get(PreparedRequest(request), by: transfer)
        }

        /// Sends a prepared request, which may have been sent before.
        func get(_ request: PreparedRequest, by transfer: HTTPTransfer) throws -> HTTPResponse {
            let count = results.count
            try transfer.send(request) { [unowned self] in results.append($0) }
            #expect(results.count == count, "send reports nothing before it returns")
            while results.count == count { try loop.runOnce(.milliseconds(100)) }
            return try results[count].get()
        }
    }

    @Test func anExchangeCarriesOneRequestAfterAnotherAndFindsHeadersInAnyCase() async throws {
        let server = try await FlagServer()
        let scene = try Scene()
        let transfer = try HTTPTransfer(scene.client)
        let request = HTTPRequest(url: "http://127.0.0.1:\(server.port)/a?b")
        for _ in 0..<3 {
            let response = try scene.get(request, by: transfer)
            #expect(response.status == 200)
            #expect(response.headers["etag"] == #""running""#)
            #expect(response.headers["x-none"] == nil)
            #expect(
                String(decoding: response.body, as: UTF8.self)
                    == #"{"apiInactive": false, "forceUpdate": false}"#)
        }
        #expect(try server.requests.map(\.path) == ["/a?b", "/a?b", "/a?b"])
    }

    @Test func aPreparedRequestIsSentAgainAsItWasWhateverWentBetween() async throws {
        let server = try await FlagServer()
        let scene = try Scene()
        let transfer = try HTTPTransfer(scene.client)
        let url = "http://127.0.0.1:\(server.port)/"
        let prepared = ["one", "two"].map { word in
            PreparedRequest(HTTPRequest(url: url + word, headers: [Header("X-Word", word)]))
        }
        let order = [0, 0, 1, 0, 1, 1]
        for index in order { _ = try scene.get(prepared[index], by: transfer) }
        let words = order.map { ["one", "two"][$0] }
        #expect(try server.requests.map(\.path) == words.map { "/" + $0 })
        #expect(try server.requests.map { $0.headers["x-word"] } == words)
    }

    /// The second request reuses the connection inside the handler of its socket. Watching the socket again
    /// once failed silently there, and the answer was never seen.
    @Test func anExchangeMayBeginInTheCompletionOfAnother() async throws {
        let server = try await FlagServer()
        let scene = try Scene()
        let (first, second) = (try HTTPTransfer(scene.client), try HTTPTransfer(scene.client))
        let request = HTTPRequest(url: "http://127.0.0.1:\(server.port)/", timeout: .seconds(5))
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
        let server = try await FlagServer()
        let scene = try Scene()
        let transfer = try HTTPTransfer(scene.client)
        let url = "http://127.0.0.1:\(server.port)/"
        #expect(try scene.get(HTTPRequest(url: url, maxBody: 44), by: transfer).body.count == 44)
        #expect(throws: TransferError.bodyOver(limit: 43)) {
            try scene.get(HTTPRequest(url: url, maxBody: 43), by: transfer)
        }
    }

    @Test func aBodyMakesItAPostAndTheNextWithoutIsAGetAgain() async throws {
        let server = try await FlagServer()
        let scene = try Scene()
        let transfer = try HTTPTransfer(scene.client)
        let url = "http://127.0.0.1:\(server.port)/"
        let bodies: [[UInt8]?] = [Array(#"{"a": 1}"#.utf8), [], nil, Array("b".utf8)]
        for body in bodies {
            let request = HTTPRequest(url: url, body: body)
            #expect(try scene.get(request, by: transfer).status == 200)
        }
        #expect(try server.requests.map(\.method) == ["POST", "POST", "GET", "POST"])
        #expect(try server.requests.map(\.body) == [#"{"a": 1}"#, "", "", "b"])
    }

    /// The body of a request goes only to the configured server.
    @Test func aRedirectOfAPostIsNotFollowed() async throws {
        let server = try await FlagServer()
        try await server.behave("redirect-once")
        let scene = try Scene()
        let request = HTTPRequest(url: "http://127.0.0.1:\(server.port)/", body: [])
        #expect(try scene.get(request, by: try HTTPTransfer(scene.client)).status == 302)
        #expect(try server.requests.count == 1)
    }

    @Test func theBodyOfAnErrorResponseIsKeptUpToTheLimit() async throws {
        let server = try await FlagServer()
        try await server.behave("404")
        let scene = try Scene()
        let transfer = try HTTPTransfer(scene.client)
        let url = "http://127.0.0.1:\(server.port)/"
        for (kept, text) in [(0, ""), (5, #"{"api"#), (10_000, server.order)] {
            let response = try scene.get(HTTPRequest(url: url, keptOfRefusal: kept), by: transfer)
            #expect(String(decoding: response.body, as: UTF8.self) == text)
        }
    }

    @Test func aCancelledRequestReportsNothingAndTheNextOneDoes() async throws {
        let server = try await FlagServer()
        try await server.behave("silence")
        let scene = try Scene()
        let transfer = try HTTPTransfer(scene.client)
        let request = HTTPRequest(url: "http://127.0.0.1:\(server.port)/")
        try transfer.send(request) { _ in Issue.record("a cancelled request was told of") }
        for _ in 0..<5 { try scene.loop.runOnce(.milliseconds(20)) }
        transfer.cancel()
        try await server.behave("running")
        #expect(try scene.get(request, by: transfer).status == 200)
    }

    /// Such a request once crashed the daemon. The replaced request reports nothing.
    @Test func aNewRequestReplacesTheOneInFlight() async throws {
        let server = try await FlagServer()
        let scene = try Scene()
        let transfer = try HTTPTransfer(scene.client)
        try await server.behave("silence")
        try transfer.send(HTTPRequest(url: "http://127.0.0.1:\(server.port)/flags")) { _ in
            Issue.record("the first request was told of")
        }
        for _ in 0..<100 where try server.requests.isEmpty {
            try scene.loop.runOnce(.milliseconds(20))
        }
        try await server.behave("maintenance")
        let response = try scene.get(
            HTTPRequest(url: "http://127.0.0.1:\(server.port)/flags"), by: transfer)
        #expect(response.status == 200)
        #expect(scene.results.count == 1)
    }

    /// The status of an error response counts, although its body is larger than the limit.
    @Test func anErrorResponseWithALongBodyKeepsItsStatus() async throws {
        let server = try await FlagServer()
        try await server.behave("404")
        let scene = try Scene()
        let transfer = try HTTPTransfer(scene.client)
        let request = HTTPRequest(url: "http://127.0.0.1:\(server.port)/", maxBody: 3)
        let response = try scene.get(request, by: transfer)
        #expect(response.status == 404)
        #expect(response.body.isEmpty)
    }

    struct UnreachableAddress: CustomTestStringConvertible, Sendable {
        let url: String
        let error: TransferError
        var testDescription: String { url }
    }

    @Test(arguments: [
        UnreachableAddress(url: "http://127.0.0.1:1/", error: .notConnected("connection refused")),
        UnreachableAddress(url: "http://127.0.0.1:99999/", error: .notStarted("")),
    ])
    func anAddressThatCannotBeReachedIsAnError(_ address: UnreachableAddress) throws {
        let scene = try Scene()
        let transfer = try HTTPTransfer(scene.client)
        let error = #expect(throws: TransferError.self) {
            try scene.get(HTTPRequest(url: address.url), by: transfer)
        }
        switch (error, address.error) {
        case (.notStarted?, .notStarted): break
        default: #expect(error == address.error)
        }
    }
}
