import Support
import Testing

/// A slip in one flag of a server of OpenFeature.
@Suite(.serialized, .timeLimit(.minutes(5))) struct UnreadableFlagTests {
    private static let running = StatusFlags.running.text
    private static let maintenance = StatusFlags.maintenance.text
    /// The service `shop` has the value `limit` of the flag of that name.
    private static let limited = """
        [service.shop.values]
        limit = { type = "integer", default = 7 }
        """

    private static func entry(_ key: String, _ value: String) -> String {
        #"{"key": "\#(key)", "reason": "STATIC", "value": \#(value)}"#
    }

    private static func failed(_ code: String) -> [String] {
        ["web", "limit"].map { #"{"key": "\#($0)", "errorCode": \#(code), "value": true}"# }
    }

    private static let web = entry("web", running)
    private static let limit = entry("limit", "4")

    /// The entries of the flags `web` and `limit`, and why they cannot be read.
    private static let slips: [(entries: [String], cause: String)] = [
        ([web, web, limit, limit], "is given more than once"),
        ([web, entry("web", maintenance), limit, failed("null")[1]], "is given more than once"),
        (failed(#""GENERAL""#), "could not be evaluated: 'GENERAL'"),
        (failed(#""PROVIDER_NOT_READY""#), "could not be evaluated: 'PROVIDER_NOT_READY'"),
        (failed("[]"), "could not be evaluated: its error code is not a string"),
        (["7"], "is missing, and an entry of the answer has no key"),
        ([#"{"value": true}"#], "is missing, and an entry of the answer has no key"),
    ]

    /// The whole answer was once refused for a flag that was listed twice, so that no order came through. A
    /// flag whose evaluation failed counted as missing, so that a default took its place.
    @Test(arguments: slips)
    func itBlocksNoOtherOrderAndNoDefaultTakesItsPlace(
        _ slip: (entries: [String], cause: String)
    ) async throws {
        let server = try await FlagServer.ofrep()
        let serve = { (entries: [String]) in
            try server.folder.write("[\(entries.joined(separator: ","))]", to: "entries")
        }
        try serve([
            Self.entry("shop", Self.running), Self.entry("web", Self.running),
            Self.entry("limit", "3"),
        ])
        try await server.behave("entries")
        let daemon = try Daemon(
            evaluatedBy: server,
            after: """
                [service.web]
                source = "app"
                format = "status"
                key = "web"
                min_closed = "0s"
                \(Self.limited)
                [source.app.defaults]
                web = '\(Self.maintenance)'
                limit = 8
                """)
        try daemon.start()
        try await daemon.awaitState("running", of: "web")
        try serve([Self.entry("shop", Self.maintenance)] + slip.entries)
        try await daemon.awaitState("maintenance")
        try await daemon.awaitLine("key 'web' \(slip.cause)")
        try await daemon.awaitLine("key 'limit' \(slip.cause)")
        #expect(try daemon.member("reason", of: "web") == #""invalid-answer""#)
        #expect(try daemon.member("state", of: "web") == #""running""#)
        #expect(try daemon.member("values") == #"{"limit":3}"#)
        // A restart reads the same.
        try daemon.stop()
        try await server.behave("500")
        try await daemon.start(awaitingLine: "500 (internal error)")
        try await daemon.awaitState("maintenance")
        #expect(try daemon.member("state", of: "web") == #""running""#)
        #expect(try daemon.member("values") == #"{"limit":3}"#)
        // A missing flag has its default.
        try serve([
            Self.entry("shop", Self.running), #"{"key": "web", "errorCode": "FLAG_NOT_FOUND"}"#,
        ])
        try await server.behave("entries", until: "running", of: daemon)
        try await daemon.awaitState("maintenance", of: "web")
        #expect(try daemon.member("values") == #"{"limit":8}"#)
    }

    /// Recovered evaluations under the ETag of the failed ones.
    @Test func anEvaluationThatWorksAgainIsSeenUnderTheSameETag() async throws {
        let server = try await FlagServer.ofrep()
        let daemon = try Daemon(
            evaluatedBy: server, after: Self.limited)
        let shop = Self.entry("shop", Self.running)
        try server.folder.write("[\(shop), \(Self.failed(#""GENERAL""#)[1])]", to: "entries")
        try server.folder.write("constant", to: "etag")
        try await server.behave("entries")
        try await daemon.start(awaitingLine: "key 'limit' could not be evaluated")
        try server.folder.write("[\(shop), \(Self.limit)]", to: "entries")
        try await waitUntil("the value is read") {
            try daemon.member("values") == #"{"limit":4}"#
        }
    }
}
