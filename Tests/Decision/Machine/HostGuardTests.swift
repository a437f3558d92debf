import CivilTime
import Decision
import Support
import Testing

/// The host guard: `close_at_once` and `confirm`.
struct HostGuardTests {
    static func plan(
        _ names: [String], limit: Int?, policy: Policy = Policy(minClosed: .zero)
    ) throws -> Plan {
        Plan(
            sources: [SourcePlan(name: "app", interval: .seconds(60))],
            services: try names.map { try service($0, policy: policy) },
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
        for case .storeLedger(let newer, _) in effects { ledger = newer }
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
