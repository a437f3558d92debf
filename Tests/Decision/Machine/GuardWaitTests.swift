import CivilTime
import Decision
import Testing

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
        transcript.hang(until: 400)
        #expect(transcript.states == [.ended, .ended, .ended])
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
        transcript.hang(until: 2000)
        #expect(transcript.states == [.ended, .ended, .ended])
    }

    /// Once they have opened, the guard holds their closings again.
    @Test func aGateThatHasOpenedAtItsTurnIsHeld() throws {
        let policy = Policy(minClosed: .zero, openSpread: .seconds(1000))
        var transcript = try Transcript(
            plan: HostGuardTests.plan(Self.names, limit: 1, policy: policy), place: Self.place
        ).answered(#"{"service_end": "yes"}"#, at: 1)
        try transcript.at(10, "app", answers: #"{"service_end": "no"}"#)
        transcript.hang(until: 400)
        #expect(transcript.states == [.running, .running, .running])
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
