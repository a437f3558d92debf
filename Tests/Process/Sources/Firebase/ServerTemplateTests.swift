import Files
import JSON
import Support
import Testing

/// Flags in a server template, from a stand-in for Firebase.
@Suite(.timeLimit(.minutes(5))) struct ServerTemplateTests {
    /// A server that knows one account, and a daemon that has the key of that account.
    func scene(
        _ parameters: JSON.Object = ["service_end": "no"], timeout: String = "30s",
        source: String = "", service: String = Daemon.serviceEnd
    ) async throws -> (server: FirebaseServer, daemon: Daemon) {
        let server = try await FirebaseServer()
        let key = try ServiceAccountKey.enrolled(at: server)
        try server.publish(server: parameters, version: 1)
        let daemon = try Daemon(
            serverTemplateOf: server, account: try key.json(), timeout: timeout, source: source,
            service: service)
        return (server, daemon)
    }

    static let template = "/serverRemoteConfig"

    @Test func aTemplateIsFetchedWithOneTokenAndAskedForConditionally() async throws {
        let (server, daemon) = try await scene()
        try await daemon.start(awaiting: "running")
        try await server.awaitRequests(to: Self.template) { $0 > 2 }
        #expect(try server.requests(to: "/token").count == 1)
        let request = try server.requests(to: Self.template)[2]
        #expect(request.headers["accept-encoding"] == "gzip")
        #expect(request.headers["cache-control"] == "no-cache")
        #expect(request.headers["if-none-match"]?.hasPrefix("etag-demo-") == true)
        #expect(request.headers["authorization"]?.hasPrefix("Bearer ya29.") == true)
        #expect(try daemon.member("version") == #""1""#)

        try await server.end(daemon, server: 2)
        #expect(try daemon.member("version") == #""2""#)
        let stored = try daemon.folder.text(of: "state/flags/app.json")
        #expect(!stored.contains("ya29") && !stored.contains("PRIVATE"))
        #expect(try !daemon.log.contains("ya29"))
    }

    @Test func oneProjectHoldsManyServicesInEveryFormat() async throws {
        let (server, daemon) = try await scene(
            [
                "shop_end": "countdown", "shop_until": "2099-01-01", "layout": "2",
                "max_items": "25", "ratio": "0.5", "is_new": "on",
                "server_maintenance_config": #"{"isUnderMaintenance": true, "title": "T"}"#,
                "books": #"{"apiInactive": false, "forceUpdate": true, "userMessage": null}"#,
                "games": #"{"state": "ended", "message": "Farewell"}"#,
            ],
            service: """
                [service.shop]
                source = "app"
                format = "service-end"
                key = "shop_end"
                countdown_key = "shop_until"
                [service.shop.variant]
                key = "layout"
                map = { "1" = "v1" }
                default = "v2"
                [service.shop.values]
                max_items = { type = "integer", default = 10 }
                ratio = { type = "number", default = 0 }
                is_new = { type = "boolean", default = false }
                absent = { type = "string", default = "x" }
                """ + Daemon.service("wiki", on: "app", format: "maintenance")
                    + Daemon.service("books", on: "app", format: "status", #"key = "books""#)
                    + Daemon.service("games", on: "app", format: "switch", #"key = "games""#))
        try await daemon.start(awaiting: "countdown")
        try await daemon.awaitState("maintenance", of: "wiki")
        try await daemon.awaitState("update-required", of: "books")
        try await daemon.awaitState("ended", of: "games")
        #expect(try daemon.member("title", of: "wiki") == #""T""#)
        #expect(try daemon.member("message", of: "games") == #""Farewell""#)
        #expect(try daemon.member("variant") == #""v2""#)
        #expect(
            try daemon.member("values")
                == #"{"max_items":25,"ratio":0.5,"is_new":true,"absent":"x"}"#)
        _ = server
    }

    @Test func conditionsAreEvaluatedForThisHost() async throws {
        let (server, daemon) = try await scene(
            source: """
                randomization_id = "three"
                signals = { tier = "gold", build = 42 }
                """)
        let share: JSON.Value = [
            "percentOperator": "BETWEEN", "seed": "3",
            "microPercentRange": ["microPercentUpperBound": 6_701_947],
        ]
        try server.publish(
            server: ["service_end": "no"], version: 2,
            conditions: [
                [
                    "name": "gold half",
                    "condition": [
                        "andCondition": [
                            "conditions": [
                                .signal("tier", "STRING_EXACTLY_MATCHES", ["silver", "gold"]),
                                .signal("build", "NUMERIC_GREATER_EQUAL", ["42"]),
                                ["percent": share],
                            ]
                        ]
                    ],
                ]
            ],
            conditional: ["service_end": ["gold half": ["value": "over"]]])
        try await daemon.start(awaiting: "ended")
        try daemon.stop()

        // Other signals are another host, for which the stored flags do not count.
        try daemon.edit(#""gold""#, #""tin""#)
        try await daemon.start(awaiting: "running")
        let first = try #require(try server.requests(to: Self.template).last)
        #expect(first.headers["authorization"] != nil)
    }

    @Test func aConditionThatCannotBeEvaluatedIsFalseAndWarnedAboutOnce() async throws {
        let (server, daemon) = try await scene()
        try server.publish(
            server: ["service_end": "no"], version: 2,
            conditions: [["name": "dated", "condition": ["dateTime": [:]]]],
            conditional: ["service_end": ["dated": ["value": "over"]]])
        try daemon.start()
        try await daemon.awaitLine(
            "source 'app': condition 'dated' counts as false: its kind 'dateTime' is not known")
        try await daemon.awaitState("running")
        let count = try server.requests(to: Self.template).count
        try await server.awaitRequests(to: Self.template) { $0 > count + 3 }
        #expect(try daemon.lines(with: "'dated'").count == 1)
    }

    @Test func aMissingParameterIsNoOrderAndItsDefaultIsReported() async throws {
        let (server, daemon) = try await scene(
            ["service_end": "over", "other": "1"],
            source: "[source.app.defaults]\nother = \"2\"",
            service: Daemon.serviceEnd
                + "\n[service.shop.values]\nother = { type = \"string\", default = \"3\" }")
        try await daemon.start(awaiting: "ended")
        try server.publish(server: ["unrelated": "x"], version: 2)
        try await daemon.awaitReason("invalid-answer", state: "ended")
        try server.publish(server: ["service_end": "over"], version: 3)
        try await daemon.awaitLine("no longer has key 'other'; the configured default is in force")
        try await waitUntil("the default counts") {
            try daemon.member("values") == #"{"other":"2"}"#
        }
    }

    @Test func theFlagsOfAServerThatIsBackTakeEffect() async throws {
        let (server, daemon) = try await scene()
        try await daemon.start(awaiting: "running")
        try await server.behave("closed")
        try await daemon.awaitLine("connection refused")
        try server.publish(server: ["service_end": "over"], version: 2)
        #expect(try daemon.member("state") == #""running""#)
        try await server.behave("ok", until: "ended", of: daemon)
        try await daemon.awaitLine("over: source 'app': ")
    }

    /// The service gives no ETag without gzip.
    @Test func aTemplateWithoutAnETagIsReadWholeEachTime() async throws {
        let (server, daemon) = try await scene()
        try await server.behave("plain")
        try await daemon.start(awaiting: "running")
        let count = try server.requests(to: Self.template).count
        try await server.awaitRequests(to: Self.template) { $0 > count + 2 }
        try await server.end(daemon, server: 2)
    }
}
