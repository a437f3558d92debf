import CivilTime
import EventLoop
import Files
import Glibc
import JSON
import Support
import Testing

/// The example of an alert silence, with a real Alertmanager and a real daemon.
@Suite(.timeLimit(.minutes(5))) struct SilenceTests {
    private let folder: TemporaryFolder
    private let manager: Program
    private let address: String

    init() throws {
        folder = try TemporaryFolder()
        address = "127.0.0.1:\(try freePort())"
        manager = try Program(
            "/usr/bin/prometheus-alertmanager",
            [
                "--config.file=\(Programs.project)/packaging/prometheus/alertmanager-example.yml",
                "--storage.path=\(folder.path)", "--web.listen-address=\(address)",
                "--cluster.listen-address=",
            ])
        try Directory.create(folder("lease"))
    }

    private func amtool(_ arguments: String...) throws -> Program.Result {
        try Program.run("/usr/bin/amtool", ["--alertmanager.url=http://\(address)"] + arguments)
    }

    private func environment(_ daemon: Daemon) throws -> [String: String] {
        let programs = try Programs.path(of: "killswitchctl").dropLast("/killswitchctl".count)
        return [
            "PATH": "\(programs):/usr/bin:/bin", "RUNTIME_DIRECTORY": folder("lease"),
            "KILLSWITCHD_FILES": daemon.folder("run"), "ALERTMANAGER_URL": "http://\(address)",
            "SILENCE_MATCHERS": "instance=~web-1(:[0-9]+)? severity!=page",
        ]
    }

    private func start(_ daemon: Daemon) throws -> Program {
        try Program(
            "/bin/sh", ["\(Programs.project)/packaging/prometheus/silence", "shop"],
            environment: environment(daemon))
    }

    private func end(_ daemon: Daemon) throws {
        let result = try Program.run(
            "/bin/sh", ["\(Programs.project)/packaging/prometheus/silence", "shop", "end"],
            environment: environment(daemon))
        #expect(result.status == 0 && result.errors == "", "\(result)")
    }

    /// The silences in force.
    private func silences() throws -> [JSON.Object] {
        let output = try amtool("silence", "query", "--output=json").output
        return try JSON.Value.parse(Array(output.utf8)).array?.compactMap(\.object) ?? []
    }

    private func awaitSilence(_ program: Program) async throws -> JSON.Object {
        var found: [JSON.Object] = []
        try await waitUntil(
            "there is a silence", every: .milliseconds(200),
            orReport: { try "\(program.errors)\n\(manager.errors)" }
        ) {
            found = try silences()
            // The script that made it writes its number down a moment later.
            let number = readable { try folder.text(of: "lease/silence") }
            return !found.isEmpty && number == "\(found[0]["id"]?.string ?? "")\n"
        }
        #expect(found.count == 1)
        return try #require(found.first)
    }

    private func awaitManager() async throws {
        try await waitUntil("Alertmanager answers", every: .milliseconds(200)) {
            try amtool("silence", "query").status == 0
        }
    }

    /// How far an end lies ahead, in seconds.
    private func secondsLeft(_ silence: JSON.Object) throws -> Int64 {
        let end = try #require(silence["endsAt"]?.string)
        let date = try Program.run("/bin/date", ["--date=\(end)", "+%s"]).output
        let seconds = try #require(Int64(date.prefix { $0.isNumber }))
        return seconds - EventLoop.wallClock.seconds
    }

    @Test func itIsALeaseThatIsRenewedWhileFlagsCloseTheService() async throws {
        try await awaitManager()
        let daemon = try Daemon.answering()
        try daemon.setFlags("over", waitingFor: "ended")
        var script: Program? = try start(daemon)
        let first = try await awaitSilence(try #require(script))
        #expect(try (1400...1500).contains(secondsLeft(first)))
        #expect(first["createdBy"] == "killswitchd")
        let matchers = first["matchers"]?.array?.compactMap(\.object) ?? []
        #expect(matchers.map { $0["name"]?.string } == ["instance", "severity"])
        #expect(matchers.first?["value"] == "web-1(:[0-9]+)?")
        #expect(matchers.first?["isRegex"] == true && matchers.last?["isEqual"] == false)
        // It is killed. The next one goes on with the same silence, and moves its end.
        script = nil
        let late = try amtool(
            "silence", "update", "--end=\(try date("+5 minutes"))", first["id"]?.string ?? "")
        #expect(late.status == 0, "\(late)")
        script = try start(daemon)
        var renewed: [JSON.Object] = []
        try await waitUntil("it is renewed", every: .milliseconds(200)) {
            renewed = try silences()
            return try renewed.first.map { try secondsLeft($0) > 1400 } ?? false
        }
        #expect(renewed.count == 1 && renewed.first?["id"] == first["id"])
        // The host shuts down while flags still close the service: the lease runs out by itself.
        script = nil
        try end(daemon)
        #expect(try silences().count == 1)
        try daemon.setFlags("no", waitingFor: "running")
        try end(daemon)
        #expect(try silences() == [])
        #expect(try !File.exists(folder("lease/silence")))
    }

    /// An Alertmanager that has lost its data, or a silence that somebody has ended.
    @Test func aSilenceThatIsGoneIsMadeAgain() async throws {
        try await awaitManager()
        let daemon = try Daemon.answering()
        try daemon.setFlags("over", waitingFor: "ended")
        try folder.write("00000000-0000-4000-8000-000000000000\n", to: "lease/silence")
        var script: Program? = try start(daemon)
        let made = try await awaitSilence(try #require(script))
        script = nil
        _ = try amtool("silence", "expire", made["id"]?.string ?? "")
        #expect(try silences() == [])
        script = try start(daemon)
        let again = try await awaitSilence(try #require(script))
        #expect(again["id"] != made["id"])
        let kept = try folder.text(of: "lease/silence")
        #expect(kept == "\(again["id"]?.string ?? "")\n")
    }

    /// An order of an operator, and flags that are unknown, silence nothing: an alert is what tells of them.
    @Test func onlyFlagsSilence() async throws {
        try await awaitManager()
        let daemon = try Daemon.answering()
        try daemon.setFlags("over", waitingFor: "ended")
        var script: Program? = try start(daemon)
        _ = try await awaitSilence(try #require(script))
        script = nil
        try daemon.control("close", "shop", "--reason", "x", "--for", "1h").expect(0)
        try end(daemon)
        #expect(try silences() == [])
        // What it would do, it does at its start.
        func hasLooked() throws -> Bool {
            try Program.run("/bin/sh", ["-c", "pgrep -P \(script?.processID ?? 0) -x sleep"]).status
                == 0
        }
        script = try start(daemon)
        try await waitUntil("it has looked", hasLooked)
        // A daemon that is gone decides nothing.
        try daemon.control("release", "shop").expect(0)
        script = nil
        try daemon.outdate()
        script = try start(daemon)
        try await waitUntil("it has looked again", hasLooked)
        #expect(try silences() == [])
        script = nil
    }

    private func date(_ words: String) throws -> String {
        let output = try Program.run("/bin/date", ["-u", "-d", words, "+%Y-%m-%dT%H:%M:%SZ"]).output
        return String(output.dropLast())
    }
}
