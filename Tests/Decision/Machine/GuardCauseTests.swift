import CivilTime
import Decision
import Testing

/// What the host guard takes for one cause of many closings, and what for none.
struct GuardCauseTests {
    private static let announced =
        #"{"service_end": "countdown", "service_countdown": "2027-03-01T12:00:30Z"}"#

    /// What a daemon has stored that followed an announced end until a minute before the start.
    private static func memory(boot: String) throws -> Memory {
        let fetched = try Instant(rfc3339: "2027-03-01T11:59:00Z")
        let entry = Ledger.Entry(state: .countdown, since: fetched, generation: 7, bootID: boot)
        return Memory(
            flags: [
                try named("app"): Memory.StoredFlags(
                    answers: [try answer(announced, fetchedAt: fetched)], confirmedAt: fetched)
            ],
            ledger: Ledger(entries: [try named("a"): entry, try named("b"): entry]))
    }

    /// Ends that had come true while the daemon was away were once held until somebody confirmed.
    @Test(arguments: ["this-boot", "another-boot"])
    func anEndThatCameTrueWhileTheDaemonWasAwayIsNone(boot: String) throws {
        var transcript = try Transcript(
            plan: HostGuardTests.plan(["a", "b"], limit: 1), memory: Self.memory(boot: boot),
            start: "2027-03-01T12:01:00Z")
        transcript.at(0, .started)
        #expect(HostGuardTests.gates(transcript) == ["a ended", "b ended"])
        #expect(!transcript.text.contains("would close at once"))
    }

    @Test func anEndThatAStepOfTheClockBringsIsNone() throws {
        var transcript = try HostGuardTests.running(["a", "b"], limit: 1)
        try transcript.at(2, "app", answers: Self.announced)
        transcript.stepClock(3, by: .seconds(60))
        #expect(HostGuardTests.gates(transcript) == ["a ended", "b ended"])
    }

    @Test func anEndThatIsPastWhenItComesIsOne() throws {
        var transcript = try HostGuardTests.running(["a", "b"], limit: 1)
        try transcript.at(31, "app", answers: Self.announced)
        #expect(HostGuardTests.gates(transcript) == ["a running", "b running"])
    }

    /// A past end that only now ends the service, because the configuration says so.
    @Test func aReloadIsOneForAnEndThatHasPassed() throws {
        let kept = Policy(atEnd: .keep, minClosed: .zero)
        var transcript = try Transcript(
            plan: HostGuardTests.plan(["a", "b"], limit: 1, policy: kept)
        ).answered(Self.announced, at: 1)
        transcript.at(30, .woke)
        #expect(HostGuardTests.gates(transcript) == ["a countdown", "b countdown"])
        transcript.at(40, .reconfigured(try HostGuardTests.plan(["a", "b"], limit: 1)))
        #expect(HostGuardTests.gates(transcript) == ["a countdown", "b countdown"])
        #expect(transcript.text.contains("publish a countdown open closing-held"))
    }

    /// Operators kept open what the flags had ended, one service after the other, for the same
    /// time.
    @Test func theEndOfAnOrderIsNone() throws {
        var transcript = try HostGuardTests.running(["a", "b"], limit: nil)
        try transcript.at(2, "app", answers: #"{"service_end": "yes"}"#)
        transcript.at(3, .reconfigured(try HostGuardTests.plan(["a", "b"], limit: 1)))
        let order = try Override.order(.running, until: "2027-03-01T12:00:20Z")
        for name in ["a", "b"] { transcript.at(4, .override(try named(name), order)) }
        #expect(HostGuardTests.gates(transcript) == ["a running", "b running"])
        transcript.at(20, .woke)
        #expect(HostGuardTests.gates(transcript) == ["a ended", "b ended"])
    }

    /// A mistake at a source is one also while orders keep it from closing anything.
    @Test func anAnswerIsOneThatOrdersKeepFromClosing() throws {
        var transcript = try HostGuardTests.running(["a", "b"], limit: 1)
        let order = try Override.order(.running, until: "2027-03-01T12:00:20Z")
        for name in ["a", "b"] { transcript.at(4, .override(try named(name), order)) }
        try transcript.at(5, "app", answers: #"{"service_end": "yes"}"#)
        transcript.at(20, .woke)
        #expect(HostGuardTests.gates(transcript) == ["a running", "b running"])
        #expect(transcript.text.contains("publish a running open closing-held"))
    }

    /// What stood was once the order that was over, closed and said to be open.
    @Test func whatIsHeldIsOpenAgainAfterAnOrderThatCloses() throws {
        var transcript = try HostGuardTests.running(["a", "b"], limit: 1)
        try transcript.at(2, "app", answers: #"{"service_end": "yes"}"#)
        let order = try Override.order(.maintenance, until: "2027-03-01T12:00:20Z")
        transcript.at(4, .override(try named("a"), order))
        #expect(HostGuardTests.gates(transcript) == ["a maintenance", "b running"])
        let effects = transcript.at(20, .woke)
        #expect(HostGuardTests.gates(transcript) == ["a running", "b running"])
        let verdicts = effects.compactMap {
            if case .publish(_, let record) = $0 { record.verdict } else { nil }
        }
        #expect(verdicts.map(\.override) == [nil] && verdicts.map(\.gate) == [.open])
        transcript.at(21, .confirm([try named("a"), try named("b")], by: "root"))
        #expect(HostGuardTests.gates(transcript) == ["a ended", "b ended"])
    }
}
