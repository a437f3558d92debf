import CivilTime
import Files
import JSON
import Support
import Testing

/// A signed document on three real servers.
private final class MirrorHost {
    let fleet: Fleet
    let servers: [FlagServer]

    /// Servers that all have version 8, which opens, and a daemon that has decided by it. A mirror has the time of an
    /// interval for its answer.
    init(interval: String = "1s") async throws {
        var servers: [FlagServer] = []
        for _ in 0..<3 { servers.append(try await FlagServer()) }
        let urls = servers.map { "\"http://127.0.0.1:\($0.port)/flags.json\"" }
        fleet = try Fleet(
            Fleet.configuration(
                place: """
                    type = "http"
                    url = [\(urls.joined(separator: ", "))]
                    interval = "\(interval)"
                    """))
        self.servers = servers
        try publish("no", version: 8, to: [0, 1, 2])
        for server in servers { try await server.behave("held") }
        try await fleet.daemon.start(awaitingReason: "flags")
    }

    func document(_ end: String, version: Int, audience: String = "prod") throws -> String {
        try fleet.signed(
            Fleet.document(end, version: version, audience: audience), by: [fleet.alice])
    }

    func publish(_ end: String, version: Int, to mirrors: [Int]) throws {
        let signed = try document(end, version: version)
        for mirror in mirrors { try servers[mirror].folder.write(signed, to: "flags.json") }
    }

    func sources() throws -> [JSON.Object] {
        let status = try fleet.daemon.control("status", "--json")
        let object = try JSON.Value.parse(Array(status.output.utf8)).object
        return object?["sources"]?.array?.compactMap(\.object) ?? []
    }

    /// The mirrors that a problem names.
    func troubled() throws -> [Int] {
        let status = try fleet.daemon.control("status").output
        return servers.indices.filter {
            status.contains("mirror 'http://127.0.0.1:\(servers[$0].port)/flags.json'")
        }
    }

    func awaitTroubled(_ expected: [Int]) async throws {
        try await waitUntil(
            "these mirrors are named: \(expected)", every: .milliseconds(300),
            orReport: { "\(try troubled())\n\(try fleet.daemon.log)" }
        ) { try troubled() == expected }
    }
}

/// Orders on mirrors, of which one is not as it should be.
@Suite(.timeLimit(.minutes(5))) struct MirrorServerTests {
    @Test func eachIsAskedInTurnUnderItsOwnCondition() async throws {
        let host = try await MirrorHost(interval: "5s")
        try await waitUntil("each was asked three times") {
            try host.servers.allSatisfy { try $0.requests.count >= 3 }
        }
        for server in host.servers {
            let requests = try server.requests
            #expect(requests[0].headers["if-none-match"] == nil)
            let etags = Set(requests.dropFirst().map { $0.headers["if-none-match"] })
            #expect(etags.count == 1 && etags.first != .some(nil), "\(etags)")
        }
        // One at each poll: none is asked twice before the others are.
        let times = try host.servers.enumerated().flatMap { index, server in
            try server.requests.map { (time: $0.time, index: index) }
        }.sorted { $0.time < $1.time }
        for position in times.indices.dropFirst(3) {
            #expect(times[position].index == times[position - 3].index)
        }
        #expect(try host.troubled() == [])
        #expect(try host.fleet.daemon.warnings.isEmpty)
    }

    /// A mirror that is frozen, was rolled back, is down, hangs, or has the document of another fleet.
    @Test(arguments: [
        ("frozen", "it gives version 8, and version 10 was accepted"),
        ("rolled back", "it gives version 7, and version 10 was accepted"),
        ("down", "get: cannot connect: connection refused"),
        ("silent", "get: no complete answer within 1"),
        ("busy", "get: the server answers 503 (unavailable)"),
        ("foreign", "the signed document is refused, 'other-audience'"),
        ("unsigned", "the signed document is refused, 'unsigned'"),
        ("forged", "the signed document is refused, 'same-version-other-bytes'"),
    ])
    func whatOneMirrorGivesKeepsNoOrderOut(
        _ fault: String, _ clause: String
    ) async throws {
        let host = try await MirrorHost()
        let bad = host.servers[1]
        switch fault {
        case "rolled back": try bad.folder.write(host.document("no", version: 7), to: "flags.json")
        case "down": try await bad.behave("closed")
        case "silent": try await bad.behave("silence")
        case "busy": try await bad.behave("week-503")
        case "foreign":
            try bad.folder.write(
                host.document("no", version: 99, audience: "test"), to: "flags.json")
        case "unsigned": try bad.folder.write(#"{"service_end": "yes"}"#, to: "flags.json")
        case "forged":
            // The others have other bytes under the same number, and come first.
            try await bad.behave("closed")
            try bad.folder.write(host.document("over", version: 10), to: "flags.json")
        default: break
        }
        // An order on one of the others takes effect within three polls: no more than the one in flight and the other
        // two come before it. How long they take depends on the machine.
        let known = try host.servers.map { try $0.requests.count }
        try host.publish("yes", version: 9, to: [2])
        try await host.fleet.daemon.awaitState("ended")
        let since = try zip(host.servers, known).enumerated().flatMap { index, host in
            try host.0.requests.dropFirst(host.1).map { (time: $0.time, index: index) }
        }.sorted { $0.time < $1.time }
        let first = try #require(since.firstIndex { $0.index == 2 })
        #expect(first <= 3, "\(since)")
        try host.publish("no", version: 10, to: [0, 2])
        try await host.fleet.daemon.awaitState("running")
        if fault == "forged" { try await bad.behave("held") }
        try await host.awaitTroubled([1])
        let name = "source 'app': mirror 'http://127.0.0.1:\(bad.port)/flags.json'"
        // The forged one was down before.
        try await waitUntil(
            "status names the mirror and says why",
            orReport: { try host.fleet.daemon.control("status").output }
        ) {
            let status = try host.fleet.daemon.control("status").output
            return status.contains(name) && status.contains(clause)
        }
        #expect(try host.sources().first?["problem"] == .null)
        // It is healed.
        try bad.folder.write(try host.servers[0].folder.text(of: "flags.json"), to: "flags.json")
        if fault == "busy" { return }
        try await bad.behave("held")
        try await host.awaitTroubled([])
    }

    /// The `Date` of whichever mirror has answered last is that of the source.
    @Test func aMirrorWithAWrongClockMovesNothing() async throws {
        let host = try await MirrorHost(interval: "5s")
        try await host.servers[1].behave("lying_259200")
        try await host.fleet.daemon.awaitLine(
            "source 'app': the server's clock is 3 days ahead; ")
        #expect(try host.troubled() == [])
        #expect(try host.fleet.daemon.member("reason") == #""flags""#)
    }

    @Test func aProbeAsksEach() async throws {
        let host = try await MirrorHost()
        try await host.servers[2].behave("404")
        let probe = try Programs.run(
            "killswitchd",
            ["--config", host.fleet.daemon.folder("killswitchd.toml"), "--check", "--probe"])
        #expect(probe.status == 75)
        for (index, words) in ["answers, ", "answers, ", "fails: get: the server answers 404"]
            .enumerated()
        {
            let place = "http://127.0.0.1:\(host.servers[index].port)/flags.json"
            #expect(probe.output.contains("source 'app' at '\(place)' \(words)"), "\(probe)")
        }
    }

    @Test func aRestartKnowsTheHighestVersion() async throws {
        let host = try await MirrorHost()
        try host.publish("yes", version: 9, to: [0])
        try await host.fleet.daemon.awaitState("ended")
        try host.fleet.daemon.stop()
        try await host.servers[0].behave("closed")
        try host.fleet.daemon.start()
        try await host.awaitTroubled([0, 1, 2])
        try await host.fleet.daemon.awaitState("ended")
        try await host.fleet.daemon.awaitLine("no mirror gives the newest flags")
    }
}
