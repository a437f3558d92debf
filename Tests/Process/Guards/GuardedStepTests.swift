import Files
import JSON
import Support
import Testing

/// A daemon whose steps wait for a guard: what its files, its commands and its metrics say.
@Suite(.timeLimit(.minutes(5))) struct GuardedStepTests {
    private static let running = #"{"state":"running"}"#
    /// An order whose only step has come.
    private static let order =
        #"{"state":"maintenance","rollout":[{"at":"2024-03-01T09:00:00Z","percent":100}]}"#

    private func daemon(
        asking server: FlagServer, timeout: String = "30s", service: String = ""
    ) throws -> Daemon {
        let daemon = try Daemon(
            """
            [source.app]
            type = "file"
            path = "flags.json"
            interval = "1s"
            [service.shop]
            source = "app"
            format = "switch"
            min_closed = "0s"
            guard = "errors"
            \(service)
            [service.mail]
            source = "app"
            format = "switch"
            guard = "errors"
            [service.free]
            source = "app"
            format = "switch"
            [guard.errors]
            url = "http://127.0.0.1:\(server.port)/gate"
            timeout = "\(timeout)"
            """, flags: Self.running)
        daemon.server = server
        return daemon
    }

    private func questions(_ server: FlagServer) throws -> Int { try server.requests.count }

    @Test func aHeldStepIsToldEverywhereAndConfirmed() async throws {
        let server = try await FlagServer()
        try await server.behave("503")
        let daemon = try daemon(asking: server)
        try await daemon.start(awaiting: "running")
        #expect(try questions(server) == 0)
        try daemon.folder.write(Self.order, to: "flags.json")
        // What has no guard does not wait.
        try await daemon.awaitState("maintenance", of: "free")
        try await daemon.awaitReason("awaiting-guard", state: "running")
        try await daemon.awaitUntil("mail waits too") {
            try daemon.member("reason", of: "mail") == #""awaiting-guard""#
        }
        #expect(try questions(server) == 1)
        let sentence =
            "guard 'errors' holds the step by which source 'app' closes this host: it answers 503 "
            + "(unavailable); asking again every 30 s, and 'killswitchctl confirm' lets it come"
        #expect(try daemon.member("reason_text") == JSON.Value.string(sentence).serialized())
        try await daemon.awaitLine("shop: running: \(sentence)")
        try await daemon.awaitStatus("shop: \(sentence)")
        let status = try daemon.control("status", "--check").expect(1)
        #expect(status.output.contains("shop: \(sentence)"), "\(status.output)")
        let explanation = try daemon.control("explain", "shop")
        #expect(explanation.output.contains("awaiting-guard: \(sentence)"))
        #expect(
            explanation.output.contains("'errors' at 'http://127.0.0.1:\(server.port)/gate'"))
        try await daemon.awaitUntil("the metrics tell") {
            let metrics = try daemon.folder.text(of: "run/metrics.prom")
            return metrics.contains(#"killswitch_guard_passes{guard="errors"} 0"#)
                && metrics.contains(#"killswitch_step_held{service="shop",guard="errors"} 1"#)
                && metrics.contains(#"killswitch_problems{kind="step-held"} 2"#)
        }
        try daemon.control("confirm", "shop").expect(0, output: "confirmed: shop")
        try await daemon.awaitState("maintenance")
        try await daemon.awaitLine("confirms their step, which a guard holds: shop")
        #expect(try daemon.member("state", of: "mail") == #""running""#)
        try daemon.control("confirm", "shop").expect(1, output: "nothing was held")
        #expect(try daemon.stop() == 0)
    }

    @Test func aStepComesWhenTheGuardPasses() async throws {
        let server = try await FlagServer()
        let daemon = try daemon(asking: server)
        try await daemon.start(awaiting: "running")
        try daemon.folder.write(Self.order, to: "flags.json")
        try await daemon.awaitState("maintenance")
        try await daemon.awaitState("maintenance", of: "mail")
        #expect(try questions(server) == 1)
        #expect(try !daemon.log.contains("awaiting-guard"))
        try daemon.folder.write(Self.running, to: "flags.json")
        try await daemon.awaitState("running")
        // An order without steps asks nobody.
        try await server.behave("503")
        try daemon.folder.write(#"{"state":"maintenance"}"#, to: "flags.json")
        try await daemon.awaitState("maintenance")
        #expect(try questions(server) == 1)
    }

    @Test func aGuardThatHangsHoldsNothingElse() async throws {
        let server = try await FlagServer()
        try await server.behave("silence")
        let daemon = try daemon(asking: server, timeout: "2s")
        try await daemon.start(awaiting: "running")
        try daemon.folder.write(Self.order, to: "flags.json")
        try await daemon.awaitUntil("it is asked") { try questions(server) == 1 }
        try daemon.control(
            "close", "mail", "--state", "ended", "--for", "1h", "--reason", "an emergency"
        ).expect(0)
        #expect(try daemon.member("state", of: "mail") == #""ended""#)
        try await daemon.awaitReason("awaiting-guard", state: "running")
        #expect(
            try daemon.member("reason_text")?.contains("no complete answer within 2.0 seconds")
                == true)
    }

    @Test func aReloadAsksTheGuardOfNow() async throws {
        let server = try await FlagServer()
        try await server.behave("503")
        let daemon = try daemon(asking: server)
        try await daemon.start(awaiting: "running")
        try daemon.folder.write(Self.order, to: "flags.json")
        try await daemon.awaitReason("awaiting-guard", state: "running")
        let text = try daemon.folder.text(of: "killswitchd.toml")
        try daemon.folder.write(
            text.replacing("/gate\"", with: "/order\""), to: "killswitchd.toml")
        try daemon.control("reload").expect(0)
        try await daemon.awaitState("maintenance")
    }

    @Test func aStepThatIsHeldStaysHeldOverARestart() async throws {
        let server = try await FlagServer()
        try await server.behave("503")
        let daemon = try daemon(asking: server)
        try await daemon.start(awaiting: "running")
        try daemon.folder.write(Self.order, to: "flags.json")
        try await daemon.awaitReason("awaiting-guard", state: "running")
        try daemon.stop(9)
        try daemon.start()
        try await daemon.awaitUntil("it asks again") { try questions(server) == 2 }
        try await daemon.awaitReason("awaiting-guard", state: "running")
        try daemon.control("confirm", "--all").expect(0)
        try await daemon.awaitState("maintenance")
        try daemon.stop(9)
        try daemon.start()
        try await daemon.awaitState("maintenance")
        #expect(try questions(server) == 2)
    }

    @Test func onceDecidesWithoutWaiting() async throws {
        let server = try await FlagServer()
        try await server.behave("silence")
        let daemon = try daemon(asking: server, timeout: "2s")
        try daemon.folder.write(Self.order, to: "flags.json")
        try daemon.run("--once").expect(0)
        #expect(try daemon.member("state") == #""running""#)
        #expect(try daemon.member("state", of: "free") == #""maintenance""#)
    }
}
