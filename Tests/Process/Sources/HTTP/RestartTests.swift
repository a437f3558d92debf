import EventLoop
import Files
import Glibc
import JSON
import Support
import Testing

/// A restart while the network is down: the stored flags decide, by the rules of the start.
@Suite(.timeLimit(.minutes(5))) struct RestartTests {
    @Test(arguments: ["running", "maintenance"])
    func inTheSameBootTheStoredFlagsDecideAtOnce(_ state: String) async throws {
        let server = try await FlagServer()
        let daemon = try await stopped(with: state, of: server, service: #"first_timeout = "1h""#)
        try await daemon.start(awaitingReason: "stored-flags")
        #expect(try daemon.member("state") == "\"\(state)\"")
        try await daemon.awaitLine("cannot connect: connection refused")
        try await expectTheNextAnswerIsTaken(daemon, server)
    }

    @Test func inAnotherBootStoredFlagsThatCloseDecideAtOnce() async throws {
        let server = try await FlagServer()
        let daemon = try await stopped(
            with: "maintenance", of: server, service: #"first_timeout = "1h""#)
        try daemon.pretendReboot()
        try await daemon.start(awaiting: "maintenance")
        #expect(try daemon.member("reason") == #""stored-flags""#)
        try await expectTheNextAnswerIsTaken(daemon, server)
    }

    @Test func inAnotherBootStoredFlagsThatOpenWaitForTheFirstAnswer() async throws {
        let server = try await FlagServer()
        let daemon = try await stopped(
            with: "running", of: server, service: #"first_timeout = "20s""#)
        try daemon.pretendReboot()
        try await daemon.start(awaitingReason: "awaiting-first-answer")
        #expect(try daemon.member("gate") == "null")
        #expect(try !File.exists(daemon.folder("run/shop/open")))
        try await daemon.awaitState("running")
        #expect(try daemon.member("reason") == #""stored-flags""#)
        try await expectTheNextAnswerIsTaken(daemon, server)
    }

    /// The first request after a restart carries the stored ETag, so that a 304 confirms the stored flags.
    @Test func theStoredETagIsSentAfterARestart() async throws {
        let server = try await FlagServer()
        let daemon = try await stopped(with: "maintenance", of: server)
        let first = try await firstRequest(of: daemon, to: server)
        #expect(first.headers["if-none-match"] == #""maintenance""#)
        #expect(try daemon.member("state") == #""maintenance""#)
    }

    /// The ETag came for other headers, so it says nothing about the answer to these.
    @Test func theStoredETagIsNotSentWithOtherHeaders() async throws {
        let server = try await FlagServer()
        let daemon = try await stopped(with: "maintenance", of: server)
        try daemon.edit("interval =", "headers = { X-Team = \"b\" }\ninterval =")
        let first = try await firstRequest(of: daemon, to: server)
        #expect(first.headers["if-none-match"] == nil)
        #expect(first.headers["x-team"] == "b")
    }

    /// A daemon that was stopped after it took these flags. Its server is down.
    private func stopped(
        with state: String, of server: FlagServer, service: String = ""
    ) async throws -> Daemon {
        try await server.behave(state)
        let daemon = try await Daemon(asking: server, service: service).start(awaiting: state)
        try daemon.stop()
        try await server.behave("closed")
        return daemon
    }

    /// Starts both; returns the first request, once the daemon has taken the answer.
    private func firstRequest(
        of daemon: Daemon, to server: FlagServer
    ) async throws -> FlagServer.Request {
        let count = try server.requests.count
        try await server.behave("maintenance")
        try daemon.start()
        try await waitUntil("it asks") { try server.requests.count > count }
        try await daemon.awaitReason("flags")
        return try server.requests[count]
    }

    private func expectTheNextAnswerIsTaken(_ daemon: Daemon, _ server: FlagServer) async throws {
        let other = try daemon.member("state") == #""running""# ? "maintenance" : "running"
        try await server.behave(other, until: other, of: daemon)
        try await daemon.awaitReason("flags")
    }
}

extension Daemon {
    /// Makes its files look as after a reboot: an empty runtime directory, and a ledger under another boot ID.
    fileprivate func pretendReboot() throws {
        try shell("rm -r \(folder("run"))")
        let ledger = try folder.text(of: "state/services.json")
        let boot = try bootID()
        #expect(ledger.contains(boot))
        try folder.write(
            ledger.replacing(boot, with: "11111111-2222-3333-4444-555555555555"),
            to: "state/services.json")
    }
}

/// The stored ETag belongs to the stored flags: a newer ETag would make the server confirm old flags.
@Suite(.timeLimit(.minutes(15))) struct StoredETagTests {
    @Test func afterAKillAtAnyMomentTheETagIsThatOfTheFlagsBesideIt() async throws {
        let disk = try SlowDisk()
        try disk.delay(sync: 2, name: 1)
        let server = try await FlagServer()
        let daemon = try await Daemon(asking: server).start(disk.environment, awaiting: "running")
        var (kills, inside) = (0, 0)
        while kills < 60 || inside < 20 {
            try #require(kills < 400, "only \(inside) kills fell inside")
            let isRunning = try stored(by: daemon) == "running"
            let answer = isRunning ? "maintenance" : "running"
            let asked = try server.requests.count
            try await server.behave(answer)
            // The writes take some 20 ms.
            try await waitUntil("it asks", every: .milliseconds(1)) {
                try server.requests.dropFirst(asked).contains { $0.behaviour == answer }
            }
            try await daemon.pause(for: .milliseconds(Int64.random(in: 0...40)))
            try daemon.stop(SIGKILL)
            kills += 1
            let isNew = try stored(by: daemon) != (isRunning ? "running" : "maintenance")
            let isPublished =
                try daemon.member("state") == (isRunning ? "\"maintenance\"" : "\"running\"")
            let isWriting = try ["state", "state/flags", "run/shop"].contains { folder in
                try Directory.list(daemon.folder(folder)).contains { $0.hasSuffix(".tmp") }
            }
            if isWriting || isNew != isPublished { inside += 1 }
            try daemon.start(disk.environment)
            try await daemon.awaitState(isRunning ? "maintenance" : "running")
        }
        print("of \(kills) kills \(inside) fell between the first and the last write of an answer")
    }

    /// The state of the stored flags; expects the stored ETag to be theirs.
    private func stored(by daemon: Daemon) throws -> String {
        let text = try daemon.folder.text(of: "state/flags/app.json")
        let lines = text.split(separator: "\n", maxSplits: 1)
        let answer = try #require(
            try JSON.Value.parse(String(lines[0])).object?["answers"]?.array?.first?.object)
        let flags = try #require(try JSON.Value.parse(String(lines[1])).object)
        let word = flags["apiInactive"]?.bool == true ? "maintenance" : "running"
        #expect(answer["etag"]?.string == "\"\(word)\"")
        return word
    }
}
