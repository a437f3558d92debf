import CivilTime
import Decision
import Support
import Testing

/// The host guard: `close_at_once` and `confirm`.
struct HostGuardTests {
    static func plan(
        _ names: [String], limit: Int?, format: Format = .serviceEnd,
        policy: Policy = Policy(minClosed: .zero)
    ) throws -> Plan {
        Plan(
            sources: [SourcePlan(name: "app", interval: .seconds(60))],
            services: try names.map { try service($0, format: format, policy: policy) },
            guardLimits: GuardLimits(count: limit))
    }

    static func running(_ names: [String], limit: Int?) throws -> Transcript {
        try Transcript(plan: plan(names, limit: limit)).answered(#"{"service_end": "no"}"#, at: 1)
    }

    @Test func moreThanMayCloseAtOnceStayOpenWithOneAlarm() throws {
        var transcript = try Self.running(["a", "b", "c"], limit: 2)
        try transcript.at(2, "app", answers: #"{"service_end": "yes"}"#)
        #expect(
            transcript.textWithoutFetches.contains(
                """
                    log error: 3 services would close at once (close_at_once is 2); held open until \
                'killswitchctl confirm': a, b, c
                """))
        #expect(transcript.states == [.running, .running, .running])
        #expect(transcript.text.contains("publish a running open closing-held"))
        transcript.forget()
        transcript.at(60, .fetchEnded("app", .unchanged))
        #expect(transcript.text == "60s app unchanged (confirmed)\n")
        #expect(transcript.states == [.running, .running, .running])
    }

    @Test func asManyAsMayCloseAtOnceClose() throws {
        var transcript = try Self.running(["a", "b"], limit: 2)
        try transcript.at(2, "app", answers: #"{"service_end": "yes"}"#)
        #expect(transcript.states == [.ended, .ended])
    }

    @Test func aConfirmedServiceClosesAndTheOthersStayHeld() throws {
        var transcript = try Self.running(["a", "b", "c"], limit: 1)
        try transcript.at(2, "app", answers: #"{"service_end": "yes"}"#)
        transcript.at(3, .confirm(["b"], by: "root"))
        #expect(transcript.states == [.running, .ended, .running])
        #expect(transcript.text.contains("log notice: 'root' confirms their closing: b"))
        transcript.at(4, .confirm(["a", "c"], by: "root"))
        #expect(transcript.states == [.ended, .ended, .ended])
    }

    /// A confirmation counts for one closing only.
    @Test func theNextClosingIsHeldAgain() throws {
        var transcript = try Self.running(["a", "b"], limit: 1)
        try transcript.at(2, "app", answers: #"{"service_end": "yes"}"#)
        transcript.at(3, .confirm(["a", "b"], by: "root"))
        try transcript.at(4, "app", answers: #"{"service_end": "no"}"#)
        try transcript.at(5, "app", answers: #"{"service_end": "yes", "x": "1"}"#)
        #expect(transcript.states == [.running, .running])
    }

    @Test func flagsThatOpenAgainEndTheHold() throws {
        var transcript = try Self.running(["a", "b"], limit: 1)
        try transcript.at(2, "app", answers: #"{"service_end": "yes"}"#)
        transcript.forget()
        try transcript.at(3, "app", answers: #"{"service_end": "no"}"#)
        #expect(transcript.text.contains("publish a running open flags"))
        #expect(transcript.states == [.running, .running])
    }

    @Test func anOperatorsOverrideIsNoCause() throws {
        var transcript = try Self.running(["a", "b"], limit: 1)
        for name in ["a", "b"] {
            let order = try Override.order(.maintenance, until: "2027-03-01T12:01:00Z")
            transcript.at(2, .force(try named(name), order))
        }
        #expect(transcript.states == [.maintenance, .maintenance])
    }

    @Test func anEndThatWasAnnouncedComesTrueForAllAtItsTime() throws {
        var transcript = try Self.running(["a", "b"], limit: 1)
        try transcript.at(
            2, "app",
            answers:
                #"{"service_end": "countdown", "service_countdown": "2027-03-01T12:10:02Z"}"#)
        #expect(transcript.states(at: 602) == [.ended, .ended])
    }

    @Test func stalenessThatClosesIsACause() throws {
        let policy = Policy(maxStale: .seconds(90), whenStale: .closed)
        var transcript = try Transcript(plan: Self.plan(["a", "b"], limit: 1, policy: policy))
            .answered(#"{"service_end": "no"}"#, at: 1)
        transcript.hang(until: 91)
        #expect(transcript.states(at: 91) == [.running, .running])
        #expect(transcript.text.contains("publish a running open closing-held"))
    }

    @Test func aReloadThatClosesIsACause() throws {
        var transcript = try Self.running(["a", "b"], limit: 1)
        let policy = Policy(maxStale: .seconds(1), whenStale: .closed)
        transcript.at(5, .reconfigured(try Self.plan(["a", "b"], limit: 1, policy: policy)))
        #expect(transcript.states == [.running, .running])
    }

    /// One of two was confirmed. The other alone is below the limit, and is held nevertheless.
    @Test func aRestartKeepsHeldClosingsHeld() throws {
        var before = try Self.running(["a", "b"], limit: 1)
        var ledger = Ledger()
        let effects =
            try before.at(2, "app", answers: #"{"service_end": "yes"}"#)
            + before.at(3, .confirm(["a"], by: "root"))
        for case .storeLedger(let newer) in effects { ledger = newer }
        #expect(ledger.entries.values.filter(\.isHeld).count == 1)
        var transcript = try Transcript(
            plan: Self.plan(["a", "b"], limit: 1), memory: Memory(ledger: ledger)
        ).started()
        try transcript.at(1, "app", answers: #"{"service_end": "yes"}"#)
        #expect(transcript.states == [.ended, .running])
    }

    @Test func withoutALimitEverythingCloses() throws {
        var transcript = try Self.running(["a", "b", "c"], limit: nil)
        try transcript.at(2, "app", answers: #"{"service_end": "yes"}"#)
        #expect(transcript.states == [.ended, .ended, .ended])
    }

    /// The first verdict of a service closes nothing that was open, so it is not counted.
    @Test func theFirstVerdictIsNoClosing() throws {
        var transcript = try Transcript(plan: Self.plan(["a", "b"], limit: 1)).started()
        try transcript.at(1, "app", answers: #"{"service_end": "yes"}"#)
        #expect(transcript.states == [.ended, .ended])
    }
}

struct GuardRestartTests {
    private static let end = GuardEvasionTests.ends(at: "12:20:00")

    private static func ledger(in effects: [Effect]) -> Ledger? {
        var found: Ledger?
        for case .storeLedger(let ledger) in effects { found = ledger }
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
        for (source, years) in [("a", 2000...2040), ("b", 2041...2100), ("c", 2101...2160)] {
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
