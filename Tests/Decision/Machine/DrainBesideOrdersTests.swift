import CivilTime
import Decision
import Support
import Testing

/// What a drain waits for and what it does not, as killswitchd(8) and killswitchd.toml(5) list it.
@Suite struct DrainBesideOrdersTests {
    private let shop: ServiceName = "shop"

    /// The drain that begins or goes on, and what is left of it; nil without one.
    private func drain(_ effects: [Effect], _ play: Transcript) -> Duration? {
        for case .publish(_, let record) in effects {
            return record.drainsUntil.map { $0 - play.now.boot }
        }
        return nil
    }

    private func running(_ policy: Policy, _ slot: Int = 0) throws -> Transcript {
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
        var play = try running(policy, host.slot)
        try play.at(10, "app", answers: #"{"state":"maintenance"}"#)
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
        #expect(try play.states(at: 16, .force(shop, .order(.running))) == [.running])
    }

    @Test func anOrderAndItsEndDrain() throws {
        var play = try running(Policy(drain: .seconds(20)))
        #expect(try drain(play.at(10, .force(shop, .order(.maintenance))), play) == .seconds(20))
        play.at(40, .release(shop, by: "root"))
        play.at(50, .force(shop, try .order(.running)))
        #expect(try play.states(at: 60, "app", answers: #"{"state":"maintenance"}"#) == [.running])
        let released = play.at(70, .release(shop, by: "root"))
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
        try ending.at(
            10, "app", answers: #"{"state":"running","ends_at":"2027-03-01T12:01:00Z"}"#)
        let ended = ending.at(60, .woke)
        #expect(ending.states == [.ended])
        #expect(drain(ended, ending) == .seconds(20))
    }
}
