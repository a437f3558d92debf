import CivilTime
import Decision
import Support
import Testing

/// Which events the host guard counts as one cause of many closings.
struct GuardCauseTests {
    private static let announced =
        #"{"service_end": "countdown", "service_countdown": "2027-03-01T12:00:30Z"}"#

    /// The memory of a daemon that knew an announced end, which came after that daemon had stopped.
    private static func memory(boot: String) throws -> Memory {
        let fetched = try Instant(rfc3339: "2027-03-01T11:50:30Z")
        let entry = Ledger.Entry(state: .countdown, since: fetched, generation: 7, bootID: boot)
        return Memory(
            flags: [
                "app": Memory.StoredFlags(
                    answers: [try answer(announced, fetchedAt: fetched)], confirmedAt: fetched)
            ], ledger: Ledger(entries: ["a": entry, "b": entry]))
    }

    /// Ends that came true while the daemon was down were once held until an operator confirmed them.
    @Test(arguments: ["this-boot", "another-boot"])
    func anEndThatCameTrueWhileTheDaemonWasDownIsNoCause(boot: String) throws {
        let transcript = try Transcript(
            plan: HostGuardTests.plan(["a", "b"], limit: 1), memory: Self.memory(boot: boot),
            start: "2027-03-01T12:01:00Z"
        ).started()
        #expect(transcript.states == [.ended, .ended])
        #expect(!transcript.text.contains("would close at once"))
    }

    @Test func anEndThatAStepOfTheClockBringsIsNoCause() throws {
        var transcript = try HostGuardTests.running(["a", "b"], limit: 1)
        try transcript.at(2, "app", answers: GuardEvasionTests.ends(at: "12:11:50"))
        transcript.stepClock(650, by: .seconds(60))
        #expect(transcript.states == [.ended, .ended])
    }

    @Test func anEndThatIsAlreadyPastWhenFetchedIsACause() throws {
        var transcript = try HostGuardTests.running(["a", "b"], limit: 1)
        try transcript.at(31, "app", answers: Self.announced)
        #expect(transcript.states == [.running, .running])
    }

    /// A past end that ends the service only now, because the new configuration makes it count.
    @Test func aReloadThatMakesAPastEndCountIsACause() throws {
        let kept = Policy(atEnd: .keep, minClosed: .zero)
        var transcript = try Transcript(
            plan: HostGuardTests.plan(["a", "b"], limit: 1, policy: kept)
        ).answered(Self.announced, at: 1)
        #expect(transcript.states(at: 30) == [.countdown, .countdown])
        transcript.at(40, .reconfigured(try HostGuardTests.plan(["a", "b"], limit: 1)))
        #expect(transcript.states == [.countdown, .countdown])
        #expect(transcript.text.contains("publish a countdown open closing-held"))
    }

    /// Operators had forced both services open after the flags had ended them. Both orders end at once.
    @Test func theEndOfAnOrderIsNoCause() throws {
        var transcript = try HostGuardTests.running(["a", "b"], limit: nil)
        try transcript.at(2, "app", answers: #"{"service_end": "yes"}"#)
        transcript.at(3, .reconfigured(try HostGuardTests.plan(["a", "b"], limit: 1)))
        let order = try Override.order(.running, until: "2027-03-01T12:00:20Z")
        for name in ["a", "b"] { transcript.at(4, .force(try named(name), order)) }
        #expect(transcript.states == [.running, .running])
        #expect(transcript.states(at: 20) == [.ended, .ended])
    }

    /// A mistake in the flags is held although orders keep the services open when it arrives.
    @Test func anAnswerThatOrdersKeepFromClosingIsACause() throws {
        var transcript = try HostGuardTests.running(["a", "b"], limit: 1)
        let order = try Override.order(.running, until: "2027-03-01T12:00:20Z")
        for name in ["a", "b"] { transcript.at(4, .force(try named(name), order)) }
        try transcript.at(5, "app", answers: #"{"service_end": "yes"}"#)
        #expect(transcript.states(at: 20) == [.running, .running])
        #expect(transcript.text.contains("publish a running open closing-held"))
    }

    /// Once the verdict of the expired order stayed: its gate was closed, and its reason said open.
    @Test func aHeldServiceIsOpenAgainAfterAnOrderThatCloses() throws {
        var transcript = try HostGuardTests.running(["a", "b"], limit: 1)
        try transcript.at(2, "app", answers: #"{"service_end": "yes"}"#)
        let order = try Override.order(.maintenance, until: "2027-03-01T12:00:40Z")
        #expect(try transcript.states(at: 4, .force("a", order)) == [.maintenance, .running])
        let effects = transcript.at(40, .woke)
        #expect(transcript.states == [.running, .running])
        let verdicts = effects.compactMap {
            if case .publish(_, let record) = $0 { record.verdict } else { nil }
        }
        #expect(verdicts.map(\.override) == [nil] && verdicts.map(\.gate) == [.open])
        #expect(transcript.states(at: 41, .confirm(["a", "b"], by: "root")) == [.ended, .ended])
    }
}

/// The host guard beside gates that wait to open.
struct GuardWaitTests {
    private static let names = ["a", "b", "c"]
    private static let place = Slot(250_000).map { HostPlace.fixed($0) } ?? .named("")

    /// Flags closed the gates and opened them again. Their closing during the wait was once held as if the gates
    /// were open, and they opened at their turn, against their flags.
    @Test(arguments: [
        Policy(minClosed: .zero, openSpread: .seconds(1000)), Policy(minClosed: .seconds(60)),
    ])
    func aGateThatWaitsToOpenHasNothingToHold(_ policy: Policy) throws {
        var transcript = try Transcript(
            plan: HostGuardTests.plan(Self.names, limit: 1, policy: policy), place: Self.place
        ).answered(#"{"service_end": "yes"}"#, at: 1)
        try transcript.at(10, "app", answers: #"{"service_end": "no"}"#)
        #expect(transcript.states == [.ended, .ended, .ended])
        try transcript.at(20, "app", answers: #"{"service_end": "yes", "x": "1"}"#)
        #expect(!transcript.text.contains("would close at once"), "\(transcript.text)")
        #expect(transcript.states(hangingUntil: 400) == [.ended, .ended, .ended])
    }

    /// The same after a boot: in this boot the gates have not opened.
    @Test func aGateThatWaitsAfterABootHasNothingToHold() throws {
        let policy = Policy(minClosed: .zero, openSpread: .seconds(5000), spreadsAtBoot: true)
        let since = try Instant(rfc3339: "2027-03-01T11:00:00Z")
        var ledger = Ledger()
        for name in Self.names {
            ledger.entries[try named(name)] = Ledger.Entry(
                state: .running, since: since, generation: 7, bootID: "another-boot")
        }
        var transcript = try Transcript(
            plan: HostGuardTests.plan(Self.names, limit: 1, policy: policy),
            memory: Memory(ledger: ledger), place: Self.place
        ).answered(#"{"service_end": "no"}"#, at: 1)
        #expect(transcript.states == [.maintenance, .maintenance, .maintenance])
        try transcript.at(20, "app", answers: #"{"service_end": "yes"}"#)
        #expect(!transcript.text.contains("would close at once"), "\(transcript.text)")
        #expect(transcript.states(hangingUntil: 2000) == [.ended, .ended, .ended])
    }

    /// Once they have opened, the guard holds their closings again.
    @Test func aGateThatHasOpenedAtItsTurnIsHeld() throws {
        let policy = Policy(minClosed: .zero, openSpread: .seconds(1000))
        var transcript = try Transcript(
            plan: HostGuardTests.plan(Self.names, limit: 1, policy: policy), place: Self.place
        ).answered(#"{"service_end": "yes"}"#, at: 1)
        try transcript.at(10, "app", answers: #"{"service_end": "no"}"#)
        #expect(transcript.states(hangingUntil: 400) == [.running, .running, .running])
        try transcript.at(400, "app", answers: #"{"service_end": "yes", "x": "1"}"#)
        #expect(transcript.states == [.running, .running, .running])
        #expect(transcript.text.contains("would close at once"))
    }

    /// An operator closed the gates that the flags want open. `min_closed` still keeps them closed when their
    /// flags close: the guard compares what flags ask for, and holds.
    @Test func anOrderDoesNotHideAClosingFromTheGuard() throws {
        var transcript = try Transcript(
            plan: HostGuardTests.plan(
                ["a", "b"], limit: 1, policy: Policy(minClosed: .seconds(60)))
        ).answered(#"{"service_end": "no"}"#, at: 1)
        for name in ["a", "b"] {
            transcript.at(2, .force(try named(name), try .order(.maintenance), ifOpen: false))
            transcript.at(3, .release(try named(name), by: "root", only: nil))
        }
        #expect(transcript.states == [.maintenance, .maintenance])
        try transcript.at(4, "app", answers: #"{"service_end": "yes"}"#)
        #expect(transcript.text.contains("would close at once"), "\(transcript.text)")
    }
}
