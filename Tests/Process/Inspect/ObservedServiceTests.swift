import Files
import JSON
import Support
import Testing

/// `enforce = false`: everything is decided and told, and nothing is touched.
@Suite(.timeLimit(.minutes(5))) struct ObservedServiceTests {
    private static let observed = Daemon.shop + "\nenforce = false"

    /// The files that keep a service closed, or say that it is open.
    private func markers(_ daemon: Daemon) throws -> [String] {
        let known = ["open", "closed", "unavailable", "page.html", "problem.json", "targets"]
        return try Directory.list(daemon.folder("run/shop")).filter(known.contains).sorted()
    }

    private func ended() throws -> Daemon {
        try Daemon(Self.observed, flags: Daemon.flags("over")).start(waitingFor: "ended")
    }

    @Test func whatWouldBeClosedIsToldAndNothingIsClosed() throws {
        let daemon = try ended()
        #expect(try daemon.member("gate") == #""closed""#)
        #expect(try markers(daemon) == [])
        let row = try daemon.control("status").expect(0).output
        #expect(row.contains("would close"), "\(row)")
        #expect(try daemon.control("status", "--check").expect(0).output == "")
        let words = "not moved ('enforce = false'): it would close"
        #expect(try daemon.control("explain", "shop").output.contains("\ngate      \(words)\n"))
        try daemon.control("is-open", "shop").expect(
            0, output: "shop: open (ended), its gate is \(words)\n")
        #expect(
            try daemon.control("is-open", "shop", "--json").expect(0).output
                == #"{"service":"shop","open":true,"state":"ended"}"# + "\n")
        let line = "shop: ended (was undecided), would close ('enforce = false'): set by"
        #expect(try daemon.log.contains(line))
        try daemon.waitUntil("the metric is there") {
            let text = try daemon.folder.text(of: "run/metrics.prom")
            return text.contains("killswitch_would_close{service=\"shop\"} 1\n")
        }
        try daemon.setFlags("no", waitingFor: "running")
        #expect(try daemon.control("status").output.contains("would open"))
        #expect(try markers(daemon) == [])
    }

    @Test func whoWaitsForTheEffectIsToldThatNothingIsMoved() throws {
        let daemon = try ended()
        let why = "'enforce = false' of the service: nothing is moved"
        try daemon.control("wait", "shop", "--for", "closed").expect(0)
        try daemon.control("wait", "shop", "--for", "down", "--timeout", "1m").expect(
            1, errors: why)
        try daemon.control(
            "close", "shop", "--for", "1h", "--reason", "x", "--wait"
        ).expect(1, errors: why)
        try daemon.control("drill", "shop", "--yes").expect(1)
        try daemon.control("run", "shop", "--for", "closed", "--", "true").expect(1, errors: why)
        try daemon.control("wait", "shop", "--for", "open", "--timeout", "1m").expect(0)
        // 'gate.json' is no more than what is shown.
        try File.remove(daemon.folder("run/shop/gate.json"))
        try daemon.control("is-open", "shop").expect(0)
    }

    @Test func aCommandRunsOnWhateverIsDecided() async throws {
        let daemon = try ended()
        let program = try daemon.startControl(
            ["run", "shop", "--", "/bin/sh", "-c", "echo ready; exec sleep 60"])
        try daemon.waitUntil("it runs") { try program.output == "ready\n" }
        try daemon.setFlags("no", waitingFor: "running")
        try daemon.setFlags("over", waitingFor: "ended")
        // A restart once took away for a moment that it is only observed.
        #expect(try daemon.stop() == 0)
        try daemon.start(waitingFor: "ended")
        try daemon.waitFor(line: "would close")
        #expect(try program.errors == "")
        program.send(15)
        #expect(try await program.end() == 128 + 15)
    }

    /// And back: nothing stays that would keep it closed.
    @Test func aReloadMakesTheDecisionTrueAndTakesItBack() throws {
        let daemon = try ended()
        try daemon.folder.write(Daemon.shop, to: "killswitchd.toml")
        try daemon.control("reload").expect(0)
        try daemon.waitFor(file: "run/shop/closed")
        #expect(try markers(daemon) == ["closed", "page.html", "problem.json", "unavailable"])
        try daemon.control("is-open", "shop").expect(1)
        #expect(try !daemon.control("status").output.contains("would"))
        try daemon.folder.write(Self.observed, to: "killswitchd.toml")
        try daemon.control("reload").expect(0)
        try daemon.waitFor(noFile: "run/shop/closed")
        try daemon.control("is-open", "shop").expect(0)
        #expect(try markers(daemon) == [])
        #expect(try daemon.stop() == 0)
        try daemon.start(waitingFor: "ended")
        #expect(try markers(daemon) == [])
    }
}
