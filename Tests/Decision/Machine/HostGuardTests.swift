import CivilTime
import Decision
import Testing

/// The host guard: `close_at_once` and `confirm`.
struct HostGuardTests {
    static func plan(
        _ names: [String], limit: Int?, policy: Policy = Policy(minClosed: .zero)
    ) throws -> Plan {
        Plan(
            sources: [SourcePlan(name: try named("app"), interval: .seconds(60))],
            services: try names.map { try service($0, policy: policy) },
            guardLimits: GuardLimits(count: limit))
    }

    static func running(_ names: [String], limit: Int?) throws -> Transcript {
        try Transcript(plan: plan(names, limit: limit)).answered(#"{"service_end": "no"}"#, at: 1)
    }

    static func gates(_ transcript: Transcript) -> [String] {
        transcript.machine.overview(at: transcript.now).services.map {
            "\($0.name) \($0.state.rawValue)"
        }
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
        #expect(Self.gates(transcript) == ["a running", "b running", "c running"])
        #expect(transcript.text.contains("publish a running open closing-held"))
        transcript.forget()
        transcript.at(60, .fetchEnded(try named("app"), .unchanged))
        #expect(transcript.text == "60s app unchanged\n    confirm app\n")
        #expect(Self.gates(transcript) == ["a running", "b running", "c running"])
    }

    @Test func asManyAsMayCloseAtOnceClose() throws {
        var transcript = try Self.running(["a", "b"], limit: 2)
        try transcript.at(2, "app", answers: #"{"service_end": "yes"}"#)
        #expect(Self.gates(transcript) == ["a ended", "b ended"])
    }

    @Test func aConfirmedServiceClosesAndTheOthersStayHeld() throws {
        var transcript = try Self.running(["a", "b", "c"], limit: 1)
        try transcript.at(2, "app", answers: #"{"service_end": "yes"}"#)
        transcript.at(3, .confirm([try named("b")], by: "root"))
        #expect(Self.gates(transcript) == ["a running", "b ended", "c running"])
        #expect(transcript.text.contains("log notice: 'root' confirms their closing: b"))
        transcript.at(4, .confirm([try named("a"), try named("c")], by: "root"))
        #expect(Self.gates(transcript) == ["a ended", "b ended", "c ended"])
    }

    /// A confirmation counts for one closing only.
    @Test func theNextClosingIsHeldAgain() throws {
        var transcript = try Self.running(["a", "b"], limit: 1)
        try transcript.at(2, "app", answers: #"{"service_end": "yes"}"#)
        transcript.at(3, .confirm([try named("a"), try named("b")], by: "root"))
        try transcript.at(4, "app", answers: #"{"service_end": "no"}"#)
        try transcript.at(5, "app", answers: #"{"service_end": "yes", "x": "1"}"#)
        #expect(Self.gates(transcript) == ["a running", "b running"])
    }

    @Test func flagsThatOpenAgainEndTheHold() throws {
        var transcript = try Self.running(["a", "b"], limit: 1)
        try transcript.at(2, "app", answers: #"{"service_end": "yes"}"#)
        transcript.forget()
        try transcript.at(3, "app", answers: #"{"service_end": "no"}"#)
        #expect(transcript.text.contains("publish a running open flags"))
        #expect(Self.gates(transcript) == ["a running", "b running"])
    }

    @Test func anOperatorsOverrideIsNoCause() throws {
        var transcript = try Self.running(["a", "b"], limit: 1)
        for name in ["a", "b"] {
            let order = try Override.order(.maintenance, until: "2027-03-01T12:01:00Z")
            transcript.at(2, .force(try named(name), order))
        }
        #expect(Self.gates(transcript) == ["a maintenance", "b maintenance"])
    }

    @Test func anEndThatWasAnnouncedComesTrueForAllAtItsTime() throws {
        var transcript = try Self.running(["a", "b"], limit: 1)
        try transcript.at(
            2, "app",
            answers:
                #"{"service_end": "countdown", "service_countdown": "2027-03-01T12:10:02Z"}"#)
        transcript.at(602, .woke)
        #expect(Self.gates(transcript) == ["a ended", "b ended"])
    }

    @Test func stalenessThatClosesIsACause() throws {
        let policy = Policy(maxStale: .seconds(90), whenStale: .closed)
        var transcript = try Transcript(plan: Self.plan(["a", "b"], limit: 1, policy: policy))
            .answered(#"{"service_end": "no"}"#, at: 1)
        transcript.hang(until: 91)
        transcript.at(91, .woke)
        #expect(Self.gates(transcript) == ["a running", "b running"])
        #expect(transcript.text.contains("publish a running open closing-held"))
    }

    @Test func aReloadThatClosesIsACause() throws {
        var transcript = try Self.running(["a", "b"], limit: 1)
        let policy = Policy(maxStale: .seconds(1), whenStale: .closed)
        transcript.at(5, .reconfigured(try Self.plan(["a", "b"], limit: 1, policy: policy)))
        #expect(Self.gates(transcript) == ["a running", "b running"])
    }

    /// One of two was confirmed. The other alone is below the limit, and is held nevertheless.
    @Test func aRestartKeepsHeldClosingsHeld() throws {
        var before = try Self.running(["a", "b"], limit: 1)
        var ledger = Ledger()
        let effects =
            try before.at(2, "app", answers: #"{"service_end": "yes"}"#)
            + before.at(3, .confirm([try named("a")], by: "root"))
        for case .storeLedger(let newer, _) in effects { ledger = newer }
        #expect(ledger.entries.values.filter(\.isHeld).count == 1)
        var transcript = try Transcript(
            plan: Self.plan(["a", "b"], limit: 1), memory: Memory(ledger: ledger))
        transcript.at(0, .started)
        try transcript.at(1, "app", answers: #"{"service_end": "yes"}"#)
        #expect(Self.gates(transcript) == ["a ended", "b running"])
    }

    @Test func withoutALimitEverythingCloses() throws {
        var transcript = try Self.running(["a", "b", "c"], limit: nil)
        try transcript.at(2, "app", answers: #"{"service_end": "yes"}"#)
        #expect(Self.gates(transcript) == ["a ended", "b ended", "c ended"])
    }

    /// The first verdict of a service closes nothing that was open, so it is not counted.
    @Test func theFirstVerdictIsNoClosing() throws {
        var transcript = try Transcript(plan: Self.plan(["a", "b"], limit: 1))
        transcript.at(0, .started)
        try transcript.at(1, "app", answers: #"{"service_end": "yes"}"#)
        #expect(Self.gates(transcript) == ["a ended", "b ended"])
    }
}
