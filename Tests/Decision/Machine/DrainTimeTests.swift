import CivilTime
import Decision
import Support
import Testing

@Suite struct DrainTimeTests {
    private static let policy = Policy(drain: .seconds(20))

    /// The drain that begins or goes on, and what is left of it; nil without one.
    private func drain(_ effects: [Effect], _ play: Transcript) -> Duration? {
        for case .publish(_, let record) in effects {
            return record.drainsUntil.map { $0 - play.now.boot }
        }
        return nil
    }

    private func isPublished(_ effects: [Effect]) -> Bool {
        effects.contains { if case .publish = $0 { true } else { false } }
    }

    @Test func aClosingDrainsAndNothingBeginsTheDrainAnew() throws {
        var play = try running()
        let closed = try play.at(10, "app", answers: #"{"state":"maintenance"}"#)
        #expect(drain(closed, play) == .seconds(20))
        #expect(try drain(play.at(15, "app", answers: #"{"state":"ended"}"#), play) == .seconds(15))
    }

    @Test func anEmergencyDoesNotDrainAndEndsADrain() throws {
        var play = try running()
        let urgent = try play.at(10, "app", answers: #"{"state":"maintenance","drain":false}"#)
        #expect(drain(urgent, play) == nil)
        var other = try running().receiving(#"{"state":"maintenance"}"#, at: 10)
        let second = try other.at(12, "app", answers: #"{"state":"maintenance","drain":false}"#)
        #expect(isPublished(second))
        #expect(drain(second, other) == nil)
    }

    /// What cannot be read of an order that closes must not let units run on.
    @Test func aDrainThatIsNoBooleanStopsUnitsAtOnce() throws {
        var play = try running()
        let order = try play.at(10, "app", answers: #"{"state":"maintenance","drain":"soon"}"#)
        #expect(play.states == [.maintenance])
        #expect(drain(order, play) == nil)
    }

    @Test func aBootHasNothingToDrain() throws {
        let memory = try Memory.stored(
            #"{"state":"running"}"#, state: .running, boot: "another-boot")
        var play = try Transcript(
            [try service(format: .switchObject(.whole), policy: Self.policy)], memory: memory)
        play.at(0, .started)
        #expect(try drain(play.at(1, "app", answers: #"{"state":"maintenance"}"#), play) == nil)
    }

    /// The state may change while the units run on; the end of the drain does not follow it.
    @Test func aRestartDoesNotBeginTheDrainAnew() throws {
        var play = try running().receiving(#"{"state":"maintenance"}"#, at: 10)
        try play.at(15, "app", answers: #"{"state":"ended"}"#)
        var next = try restarted(play, #"{"state":"ended"}"#, after: 16)
        #expect(drain(next.at(0, .started), next) == .seconds(14))
        var late = try restarted(play, #"{"state":"ended"}"#, after: 60)
        #expect(drain(late.at(0, .started), late) ?? .zero <= .zero)
    }

    @Test func unitsThatStoppedAtOnceAreNotDrainedByARestart() throws {
        var play = try running().receiving(#"{"state":"maintenance","drain":false}"#, at: 10)
        try play.at(12, "app", answers: #"{"state":"maintenance"}"#)
        var next = try restarted(play, #"{"state":"maintenance"}"#, after: 13)
        #expect(drain(next.at(0, .started), next) == nil)
    }

    /// The boot clock measures a drain. A wall clock that is set back would have units run on for a day.
    @Test(arguments: [-86_400, 86_400])
    func aStepOfTheClockDoesNotMoveTheDrain(_ step: Int) throws {
        var play = try running().receiving(#"{"state":"maintenance"}"#, at: 10)
        play.stepClock(15, by: .seconds(step))
        #expect(try drain(play.at(20, "app", answers: #"{"state":"ended"}"#), play) == .seconds(10))
    }

    /// Nor does a clock that was set by a day while no daemon ran: the end is stored by the boot clock.
    @Test(arguments: ["2027-02-28T12:00:00Z", "2027-03-02T12:00:00Z"])
    func aClockThatIsSetBeforeARestartDoesNotMoveTheDrain(_ start: String) throws {
        let play = try running().receiving(#"{"state":"maintenance"}"#, at: 10)
        var next = try restarted(play, #"{"state":"maintenance"}"#, after: 13, start)
        #expect(drain(next.at(0, .started), next) == .seconds(17))
    }

    /// A reload once had no effect on a drain under way.
    @Test func aReloadThatShortensTheDrainShortensTheOneUnderWay() throws {
        var play = try running().receiving(#"{"state":"maintenance"}"#, at: 10)
        let shorter = try reload(&play, at: 12, drain: .seconds(5))
        #expect(drain(shorter, play) == .seconds(5))
        let longer = try reload(&play, at: 14, drain: .seconds(60))
        #expect(!isPublished(longer))
        #expect(try drain(play.at(15, "app", answers: #"{"state":"ended"}"#), play) == .seconds(2))
    }

    @Test func aReloadWithoutADrainEndsTheOneUnderWay() throws {
        var play = try running().receiving(#"{"state":"maintenance"}"#, at: 10)
        let effects = try reload(&play, at: 12, drain: .zero)
        #expect(isPublished(effects))
        #expect(drain(effects, play) == nil)
    }

    /// The service keeps its verdict until the new source has answered, and its drain too.
    @Test func aReloadThatAddsASourceDoesNotEndTheDrain() throws {
        var play = try running().receiving(#"{"state":"maintenance"}"#, at: 10)
        let more = try service(
            format: .switchObject(.whole), policy: Self.policy, sources: ["app", "calendar"])
        play.at(12, .reconfigured(Plan([more]), replaced: [:], remembered: [:]))
        #expect(try drain(play.at(15, "app", answers: #"{"state":"ended"}"#), play) == .seconds(15))
    }

    /// The end of one source outranks the emergency of another in what is told, not in what happens.
    @Test func anEmergencyOfOneSourceCountsBesideTheEndOfAnother() throws {
        var play = try Transcript([
            try service(
                format: .switchObject(.whole), policy: Self.policy, sources: ["app", "calendar"])
        ])
        play.at(0, .started)
        try play.at(1, "app", answers: #"{"state":"running"}"#)
        try play.at(1, "calendar", answers: #"{"state":"running"}"#)
        #expect(try drain(play.at(10, "app", answers: #"{"state":"ended"}"#), play) == .seconds(20))
        let urgent = try play.at(12, "calendar", answers: #"{"state":"maintenance","drain":false}"#)
        #expect(isPublished(urgent))
        #expect(drain(urgent, play) == nil)
        #expect(play.states == [.ended])
    }

    /// An operator's order was in the way: the units ran on for the whole drain.
    @Test func anEmergencyCountsBehindAnOrderToo() throws {
        var play = try running()
        let order = Event.force("shop", try .order(.maintenance), ifOpen: false)
        #expect(drain(play.at(10, order), play) == .seconds(20))
        let urgent = try play.at(12, "app", answers: #"{"state":"maintenance","drain":false}"#)
        #expect(isPublished(urgent))
        #expect(drain(urgent, play) == nil)
        let released = play.at(14, .release("shop", by: "root", only: nil))
        #expect(isPublished(released))
        #expect(drain(released, play) == nil)
    }

    @Test func anEmergencyCountsOnceAnOrderThatOpensIsReleased() throws {
        var play = try running()
        play.at(10, .force("shop", try .order(.running), ifOpen: false))
        try play.at(12, "app", answers: #"{"state":"maintenance","drain":false}"#)
        #expect(play.states == [.running])
        let released = play.at(14, .release("shop", by: "root", only: nil))
        #expect(play.states == [.maintenance])
        #expect(drain(released, play) == nil)
    }

    /// The guard holds the closing that the flags ask for, and their haste with it.
    @Test func anEmergencyThatTheHostGuardHoldsDoesNotCount() throws {
        let plan = try HostGuardTests.plan(
            ["a", "b"], limit: 1, format: .switchObject(.whole), policy: Self.policy)
        var play = try Transcript(plan: plan).answered(#"{"state":"running"}"#)
        play.at(10, .force("a", try .order(.maintenance), ifOpen: false))
        try play.at(12, "app", answers: #"{"state":"ended","drain":false}"#)
        #expect(play.states == [.maintenance, .running])
        let confirmed = play.at(14, .confirm(["a"], by: "root"))
        #expect(isPublished(confirmed))
        #expect(drain(confirmed, play) == nil)
        #expect(play.states == [.maintenance, .running])
    }

    private func reload(_ play: inout Transcript, at seconds: Double, drain: Duration) throws
        -> [Effect]
    {
        let other = try service(format: .switchObject(.whole), policy: Policy(drain: drain))
        return play.at(seconds, .reconfigured(Plan([other]), replaced: [:], remembered: [:]))
    }

    /// Another daemon of the same boot, with these flags, this many seconds later. `start` is what the wall clock
    /// shows then; nil for the same time.
    private func restarted(
        _ play: Transcript, _ flags: String, after seconds: Int64, _ start: String? = nil
    ) throws -> Transcript {
        var memory = try Memory.stored(flags, fetchedAt: "2027-03-01T12:00:00Z", state: .ended)
        memory.ledger = .known(play.ledger)
        let time = try Instant(rfc3339: "2027-03-01T12:00:00Z") + .seconds(seconds)
        return try Transcript(
            [try service(format: .switchObject(.whole), policy: Self.policy)], memory: memory,
            start: start ?? Zone.utc.rfc3339(time), bootedFor: .seconds(1000 + seconds))
    }

    // MARK: - What a drain waits for and what it does not, as killswitchd(8) and killswitchd.toml(5) list it

    private func running(_ policy: Policy = Self.policy, _ slot: Int = 0) throws -> Transcript {
        try Transcript(
            [try service(format: .switchObject(.whole), policy: policy)],
            place: .fixed(try #require(Slot(slot)))
        ).answered(#"{"state":"running"}"#)
    }

    /// Flags take a closing back after five seconds, while the units drain. A host whose turn comes later than the end
    /// of the drain stops them at that end.
    @Test(arguments: [(slot: 250_000, opens: false), (slot: 10_000, opens: true)])
    func aDrainDoesNotWaitForTheTurnOfTheHost(_ host: (slot: Int, opens: Bool)) throws {
        let policy = Policy(minClosed: .zero, openSpread: .seconds(1000), drain: .seconds(20))
        var play = try running(policy, host.slot).receiving(#"{"state":"maintenance"}"#, at: 10)
        let back = try play.at(15, "app", answers: #"{"state":"running"}"#)
        #expect(play.states == [.maintenance])
        #expect(drain(back, play) == .seconds(15))
        let turn = play.at(25, .woke)
        #expect(play.states == [host.opens ? .running : .maintenance])
        #expect(drain(turn, play) == nil)
    }

    @Test func aDrainDoesNotWaitForMinClosed() throws {
        var play = try running(Policy(minClosed: .seconds(60), drain: .seconds(20)))
        try play.at(10, "app", answers: #"{"state":"maintenance"}"#)
        let back = try play.at(15, "app", answers: #"{"state":"running"}"#)
        #expect(play.states == [.maintenance])
        #expect(drain(back, play) == .seconds(15))
        #expect(try play.states(at: 16, .force("shop", .order(.running))) == [.running])
    }

    @Test func anOrderAndItsEndDrain() throws {
        var play = try running(Policy(drain: .seconds(20)))
        #expect(try drain(play.at(10, .force("shop", .order(.maintenance))), play) == .seconds(20))
        play.at(40, .release("shop", by: "root"))
        play.at(50, .force("shop", try .order(.running)))
        #expect(try play.states(at: 60, "app", answers: #"{"state":"maintenance"}"#) == [.running])
        let released = play.at(70, .release("shop", by: "root"))
        #expect(play.states == [.maintenance])
        #expect(drain(released, play) == .seconds(20))
    }

    @Test func silenceAndEndsDrain() throws {
        var silent = try running(
            Policy(maxStale: .seconds(600), whenStale: .closed, drain: .seconds(20)))
        silent.hang(until: 600)
        let stale = silent.at(600, .woke)
        #expect(silent.states == [.maintenance])
        #expect(drain(stale, silent) == .seconds(20))
        var ending = try running(Policy(drain: .seconds(20)))
        try ending.at(10, "app", answers: #"{"state":"running","ends_at":"2027-03-01T12:01:00Z"}"#)
        let ended = ending.at(60, .woke)
        #expect(ending.states == [.ended])
        #expect(drain(ended, ending) == .seconds(20))
    }
}
