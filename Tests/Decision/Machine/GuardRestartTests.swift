import CivilTime
import Decision
import Support
import Testing

/// What the host guard knows over a restart of the daemon.
struct GuardRestartTests {
    private static let end = GuardEvasionTests.ends(at: "12:20:00")

    private static func ledger(in effects: [Effect]) -> Ledger? {
        var found: Ledger?
        for case .storeLedger(let ledger, _) in effects { found = ledger }
        return found
    }

    /// A restart between the closings once made room for the next one.
    @Test func aRestartForgetsNoClosing() throws {
        var before = try GuardEvasionTests.runningApart(limit: 1)
        let ledger = Self.ledger(in: try before.at(2, "a", answers: GuardEvasionTests.ended))
        var transcript = try Transcript(
            plan: GuardEvasionTests.apart(GuardEvasionTests.names, limit: 1),
            memory: Memory(ledger: try #require(ledger)), start: "2027-03-01T12:00:03Z"
        ).started()
        try transcript.at(1, "a", answers: GuardEvasionTests.ended)
        for name in ["b", "c"] { try transcript.at(2, name, answers: GuardEvasionTests.ended) }
        #expect(transcript.states == [.ended, .running, .running])
    }

    /// What closed before a reboot is over.
    @Test func aRebootBeginsAnew() throws {
        var before = try GuardEvasionTests.runningApart(limit: 1)
        let effects = try before.at(2, "a", answers: GuardEvasionTests.ended)
        var ledger = try #require(Self.ledger(in: effects))
        for name in ledger.entries.keys { ledger.entries[name]?.bootID = "another-boot" }
        var transcript = try Transcript(
            plan: GuardEvasionTests.apart(GuardEvasionTests.names, limit: 1),
            memory: Memory(ledger: ledger)
        ).started()
        for name in ["a", "b", "c"] { try transcript.at(1, name, answers: GuardEvasionTests.ended) }
        #expect(transcript.states == [.ended, .ended, .running])
    }

    /// The stored answer is newer than the end, which an earlier answer announced.
    @Test(arguments: ["11:00:00", "12:15:00"])
    func aRestartKeepsSinceWhenAnEndIsKnown(since: String) throws {
        let known = try Instant(rfc3339: "2027-03-01T\(since)Z")
        let fetched = try Instant(rfc3339: "2027-03-01T12:18:00Z")
        let end = Announcement(from: try Instant(rfc3339: "2027-03-01T12:20:00Z"))
        var entry = Ledger.Entry(
            state: .countdown, since: known, generation: 7, bootID: "this-boot")
        entry.announced = [end: known]
        let memory = Memory(
            flags: [
                "app": Memory.StoredFlags(
                    answers: [try answer(Self.end, fetchedAt: fetched)], confirmedAt: fetched)
            ], ledger: Ledger(entries: ["a": entry, "b": entry]))
        var transcript = try Transcript(
            plan: HostGuardTests.plan(["a", "b"], limit: 1), memory: memory,
            start: "2027-03-01T12:19:00Z"
        ).started()
        transcript.at(60, .woke)
        let state: State = since == "11:00:00" ? .ended : .countdown
        #expect(transcript.states == [state, state])
    }

    @Test func theLedgerHasSinceWhenAnEndIsKnown() throws {
        var transcript = try HostGuardTests.running(["a"], limit: 1)
        let ledger = Self.ledger(in: try transcript.at(2, "app", answers: Self.end))
        let end = Announcement(from: try Instant(rfc3339: "2027-03-01T12:20:00Z"))
        let since = try Instant(rfc3339: "2027-03-01T12:00:02Z")
        #expect(ledger?.entries["a"]?.announced == [end: since])
    }

    /// Several switches may announce many windows. The ledger has the next windows, and no past window.
    @Test func ofManyWindowsTheLedgerHasTheNext() throws {
        let day = { (year: Int) in
            #"{"from": "\#(year)-01-01T00:00:00Z", "until": "\#(year)-01-02T00:00:00Z"}"#
        }
        var plan = try GuardEvasionTests.apart(["a", "b", "c"], limit: 1)
        plan.services.removeLast(2)
        plan.services[0].switches = try ["a", "b", "c"].map {
            Switch(source: try named($0), format: .switchObject(.whole))
        }
        var transcript = try Transcript(plan: plan).started()
        var effects: [Effect] = []
        for (source, years) in [("a", 1990...2040), ("b", 2041...2100), ("c", 2101...2160)] {
            let windows = years.map(day).joined(separator: ", ")
            effects = try transcript.at(
                2, source, answers: #"{"state": "running", "windows": [\#(windows)]}"#)
        }
        let stored = try #require(Self.ledger(in: effects)?.entries["a"]?.announced)
        #expect(stored.count == 64)
        let first = try Instant(rfc3339: "2028-01-01T00:00:00Z")
        #expect(stored.keys.map(\.from).min() == first)
    }
}
