import CivilTime
import Decision
import Files
import Gates
import Storage
import Support
import Testing

@Suite struct StateFileTests {
    @Test func everyMemberIsThereAndInOrder() throws {
        var verdict = try verdict(.countdown, .open)
        verdict.endsAt = try Instant(rfc3339: "2027-03-31T08:00:00Z")
        verdict.daysLeft = 30
        verdict.texts.title = "T"
        verdict.texts.message = "say \"bye\"\n"
        verdict.retryAfter = .seconds(15)
        verdict.source = "app"
        verdict.version = "7"
        let bytes = StateFile.bytes(
            of: try record(verdict, generation: 3, fetchedAt: "2027-03-01T11:59:00Z"),
            for: try service(), bootID: "b-1")
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(
            text == #"""
                {
                  "schema": 1,
                  "service": "shop",
                  "state": "countdown",
                  "gate": "open",
                  "reason": "flags",
                  "reason_text": "set by the flags of source 'app'",
                  "since": "2027-03-01T11:00:00+00:00",
                  "ends_at": "2027-03-31T08:00:00+00:00",
                  "days_left": 30,
                  "title": "T",
                  "message": "say \"bye\"\n",
                  "retry_after": 15,
                  "author": [],
                  "variant": null,
                  "values": {},
                  "override": null,
                  "source": "app",
                  "version": "7",
                  "fetched_at": "2027-03-01T11:59:00+00:00",
                  "decided_at": "2027-03-01T12:00:00+00:00",
                  "valid_until": "2027-03-02T00:01:00+00:00",
                  "stale": false,
                  "generation": 3,
                  "boot_id": "b-1"
                }

                """#)
    }

    @Test func absentFactsAreNull() throws {
        let bytes = StateFile.bytes(
            of: try record(.undecided(.starting)), for: try service(), bootID: "b-1")
        let text = String(decoding: bytes, as: UTF8.self)
        for member in [
            "gate", "ends_at", "days_left", "title", "message", "retry_after", "source", "version",
            "fetched_at",
        ] {
            #expect(text.contains("\"\(member)\": null"))
        }
        #expect(text.contains("\"valid_until\": \"2027-03-02T00:01:00+00:00\""))
    }
}

@Suite struct GateFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func directory() throws -> (RuntimeDirectory, Service) {
        (RuntimeDirectory(path: folder.path, bootID: "boot"), try service("shop"))
    }

    @Test func whatIsWrittenTwiceIsOneWrite() throws {
        let (directory, service) = try directory()
        let file = "\(directory.path)/shop/gate.json"
        let now = (wall: Instant(seconds: 1_800_000_000), boot: Boottime(microseconds: 5_000_000))
        try directory.publish(GateStatus(unmoved: .closed), of: service, now: now)
        let first = try File.attributes(of: file).modificationTime
        try directory.publish(GateStatus(unmoved: .closed), of: service, now: now)
        #expect(try File.attributes(of: file).modificationTime == first)
        try directory.publish(GateStatus(unmoved: .open), of: service, now: now)
        #expect(PublishedGate.read(in: "\(directory.path)/shop")?.wanted == .open)
    }

    /// The gate has opened on a full disk: the file would still say that it is closed.
    @Test func aFileThatCannotBeReplacedIsGone() throws {
        let (directory, service) = try directory()
        let folder = "\(directory.path)/shop"
        let now = (wall: Instant(seconds: 1_800_000_000), boot: Boottime(microseconds: 5_000_000))
        try directory.publish(GateStatus(unmoved: .closed), of: service, now: now)
        try directory.publish([], of: service, now: now)
        // A directory at the temporary name fails the write like a full disk, also for root.
        for name in ["gate.json", "units.json"] { try Directory.create("\(folder)/.\(name).tmp/x") }
        #expect(throws: FileError.self) {
            try directory.publish(GateStatus(unmoved: .open), of: service, now: now)
        }
        #expect(throws: FileError.self) { try directory.publish([], of: service, now: now) }
        #expect(try Directory.list(folder).allSatisfy { $0.hasSuffix(".tmp") })
    }

    /// On a full disk of btrfs a rename may fail where a removal does not.
    @Test func aFileThatCannotBeRenamedIsRemoved() throws {
        let (directory, service) = try directory()
        let folder = "\(directory.path)/shop"
        let now = (wall: Instant(seconds: 1_800_000_000), boot: Boottime(microseconds: 5_000_000))
        try directory.publish(GateStatus(unmoved: .closed), of: service, now: now)
        for name in ["tmp", "old"] { try Directory.create("\(folder)/.gate.json.\(name)/x") }
        #expect(throws: FileError.self) {
            try directory.publish(GateStatus(unmoved: .open), of: service, now: now)
        }
        #expect(try !File.exists("\(folder)/gate.json"))
    }

    /// A closed service is only observed from now on: nothing stays by which it would be kept closed. Later it closes.
    @Test func aServiceThatIsOnlyObservedHasNoMarkerAndNoPage() throws {
        let (directory, service) = try directory()
        let (folder, now) = ("\(directory.path)/shop", Instant(seconds: 1_800_000_000))
        let files = { Set(try Directory.list(folder)) }
        var closed = PublishedVerdict(
            verdict: Verdict(state: .ended, gate: .closed, reason: .flags("app")), since: now,
            generation: 1, decidedAt: now, nextEdge: now + .seconds(60))
        try directory.publish(closed, of: service)
        try directory.publish(
            GateStatus(unmoved: .closed), of: service, now: (now, Boottime(microseconds: 0)))
        let enforced = try files()
        #expect(enforced.isSuperset(of: ["closed", "unavailable", "page.html", "gate.json"]))
        closed.verdict.isEnforced = false
        try directory.publish(closed, of: service)
        #expect(try files() == ["state.json", "state.env", "gate.json", "observed"])
        let gate = try #require(PublishedGate.read(in: folder))
        #expect(!gate.isEnforced && gate.actual == nil && gate.wanted == .closed)
        #expect(try PublishedState.read(in: folder)?.gate == .closed)
        closed.verdict.isEnforced = true
        try directory.publish(closed, of: service)
        // What the gate is, whoever moves it says.
        #expect(try files() == enforced.subtracting(["gate.json"]))
    }

    /// On a full disk too.
    @Test func aClosingThatCannotBeWrittenEndsTheObservation() throws {
        let (directory, service) = try directory()
        let (folder, now) = ("\(directory.path)/shop", Instant(seconds: 1_800_000_000))
        var closed = PublishedVerdict(
            verdict: Verdict(state: .ended, gate: .closed, reason: .flags("app")), since: now,
            generation: 1, decidedAt: now, nextEdge: now + .seconds(60))
        closed.verdict.isEnforced = false
        try directory.publish(closed, of: service)
        #expect(try File.exists("\(folder)/observed"))
        closed.verdict.isEnforced = true
        try Directory.create("\(folder)/.state.env.tmp/x")
        #expect(throws: FileError.self) { try directory.publish(closed, of: service) }
        #expect(try File.exists("\(folder)/closed") && !File.exists("\(folder)/observed"))
    }

    @Test func aFileThatCannotBeReadIsNoKnowledge() throws {
        let (directory, _) = try directory()
        try Directory.create("\(directory.path)/shop")
        #expect(PublishedGate.read(in: "\(directory.path)/shop") == nil)
        try File.replace("\(directory.path)/shop/gate.json", with: Array("[".utf8))
        #expect(PublishedGate.read(in: "\(directory.path)/shop") == nil)
    }

    @Test func aServiceThatIsGoneHasNoGateAndAStartForgetsWhatAnEarlierDaemonKnew() throws {
        let (directory, service) = try directory()
        let now = (wall: Instant(seconds: 1_800_000_000), boot: Boottime(microseconds: 5_000_000))
        try directory.publish(GateStatus(unmoved: .closed), of: service, now: now)
        _ = try directory.tidy(services: [service.name], sources: [])
        #expect(try !File.exists("\(directory.path)/shop/gate.json"))
        try directory.publish(GateStatus(unmoved: .closed), of: service, now: now)
        try directory.withdraw(service.name)
        #expect(try !File.exists("\(directory.path)/shop"))
    }
}
