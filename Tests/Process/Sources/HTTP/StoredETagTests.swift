import EventLoop
import Files
import Glibc
import JSON
import Support
import Testing

/// The stored ETag belongs to the stored flags: a newer ETag would make the server confirm old flags.
@Suite(.timeLimit(.minutes(5))) struct StoredETagTests {
    @Test func afterAKillAtAnyMomentTheETagIsThatOfTheFlagsBesideIt() async throws {
        let disk = try SlowDisk()
        try disk.delay(sync: 2, name: 1)
        let server = try await FlagServer()
        let daemon = try Daemon(asking: server)
        try await daemon.start(disk.environment, awaiting: "running")
        var (kills, inside) = (0, 0)
        while kills < 60 || inside < 20 {
            try #require(kills < 400, "only \(inside) kills fell inside")
            let isRunning = try stored(by: daemon) == "running"
            try await server.behave(isRunning ? "maintenance" : "running")
            // The server is asked every 100 ms; the writes take some 20 ms.
            try await daemon.pause(for: .milliseconds(Int64.random(in: 0...130)))
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
