import CivilTime
import Decision
import Support
import Testing

/// A rollout over time: steps come true while the source is silent, and over restarts.
@Suite struct RolloutTimeTests {
    /// One hour after the start 1 % of the hosts, after two hours half of them.
    private static let order = #"""
        {"state":"maintenance","title":"Closed","rollout":[{"at":"2027-03-01T13:00:00Z","percent":1},{"at":"2027-03-01T14:00:00Z","percent":50}]}
        """#

    private func play(
        slot: Int, memory: Memory = Memory(), start: String = "2027-03-01T12:00:00Z"
    ) throws -> Transcript {
        try Transcript(
            [try service(format: .switchObject(.whole))], memory: memory, start: start,
            place: .fixed(try #require(Slot(slot))))
    }

    @Test func aStepComesTrueToTheSecondWithTheSourceSilent() throws {
        var play = try play(slot: 123_456).waiting().receiving(Self.order, at: 0)
        play.at(3600, .woke)
        play.at(7199, .woke)
        play.at(7200, .woke)
        play.expectWithoutFetches(
            #"""
            0s app answers {"state":"maintenance","title":"Closed","rollout":[{"at":"2027-03-01T13:00:00Z","percent":1},{"at":"2027-03-01T14:00:00Z","percent":50}]} (stored, confirmed)
                remember and publish shop running open rollout #2 until 2027-03-01T13:01:00+00:00
                log notice: shop: running (was undecided): source 'app' closes 0 % of all hosts, but not this one (slot 123456 of 1000000); this host closes at 2027-03-01T14:00:00+00:00
            3600s woke
                publish shop running open rollout #2 until 2027-03-01T14:01:00+00:00
            7199s woke
            7200s woke
                remember and publish shop maintenance closed flags title=Closed #3 until 2027-03-02T00:01:00+00:00
                log notice: shop: maintenance (was running): set by the flags of source 'app'
            """#)
    }

    /// Nobody is told of a closing that does not come.
    @Test func aWindowThatIsOverByTheTurnClosesNothing() throws {
        let order = #"""
            {"state":"running","windows":[{"from":"2027-03-01T12:00:00Z","until":"2027-03-01T13:30:00Z"}],"rollout":[{"at":"2027-03-01T14:00:00Z","percent":100}]}
            """#
        let play = try play(slot: 123_456).answered(order)
        #expect(play.states == [.running])
        let verdict = play.machine.publishedVerdict(of: "shop")?.verdict
        let end = "; the closing is over before it reaches this host"
        #expect(verdict?.reason.sentence.hasSuffix(end) == true)
    }

    @Test func aStepComesTrueAfterARestart() throws {
        let memory = try Memory.stored(
            Self.order, fetchedAt: "2027-03-01T12:00:00Z", state: .running)
        var play = try play(slot: 499_999, memory: memory, start: "2027-03-01T13:59:59Z")
        #expect(play.states(at: 0, .started) == [.running])
        #expect(play.states(at: 1) == [.maintenance])
    }

    @Test func aHostThatTakesPartStaysInIt() throws {
        var first = try play(slot: 9_999).answered(Self.order)
        for seconds in [3600.0, 7200, 86_400] {
            #expect(first.states(at: seconds) == [.maintenance])
        }
        var never = try play(slot: 500_000).answered(Self.order)
        for seconds in [3600.0, 7200, 86_400] { #expect(never.states(at: seconds) == [.running]) }
    }

    @Test func anEndWaitsForTheHostsTurnAndIsToldEverywhere() throws {
        let order = #"""
            {"state":"running","ends_at":"2027-03-01T13:00:00Z","rollout":[{"at":"2027-03-01T12:30:00Z","percent":1},{"at":"2027-03-01T14:00:00Z","percent":100}]}
            """#
        var play = try play(slot: 10_000).answered(order)
        #expect(play.states == [.countdown])
        play.at(3600, .woke)
        let verdict = try #require(play.machine.overview(at: play.now).services.first)
        #expect(verdict.state == .countdown && verdict.record?.verdict.reason.slug == .rollout)
        #expect(play.states(at: 7200) == [.ended])
    }

    /// A host that becomes a canary takes part at once, and one that becomes a till leaves an order that does not reach
    /// its part.
    @Test func aReloadMovesAHostToItsPart() throws {
        let shop = try service(format: .switchObject(.whole), policy: Policy(minClosed: .zero))
        var plan = Plan([shop])
        plan.slots = try #require(SlotRange("50%-100%"))
        var play = try Transcript(
            plan: plan, place: .named("this-host")
        ).answered(Self.order)
        #expect(play.states(at: 3600) == [.running])
        #expect(play.states(at: 7200) == [.running])
        plan.slots = try #require(SlotRange("0%-1%"))
        #expect(play.states(at: 7201, .reconfigured(plan)) == [.maintenance])
        plan.slots = try #require(SlotRange("99%-100%"))
        #expect(play.states(at: 7300, .reconfigured(plan)) == [.running])
    }

    @Test func aPartHoldsForTheSpreadToo() throws {
        var shop = try service(format: .switchObject(.whole), policy: Policy(minClosed: .zero))
        shop.policy.openSpread = .seconds(1000)
        var plan = Plan([shop])
        plan.slots = try #require(SlotRange("90%-100%"))
        var play = try Transcript(plan: plan, place: .named("this-host"))
            .answered(#"{"state":"maintenance"}"#)
        try play.at(100, "app", answers: #"{"state":"running"}"#)
        #expect(play.states(at: 990) == [.maintenance])
        #expect(play.states(at: 1101) == [.running])
    }

    @Test func whatDoesNotCloseWaitsForNoStep() throws {
        let order =
            #"{"state":"update-required","rollout":[{"at":"2030-03-01T13:00:00Z","percent":1}]}"#
        var service = try service(format: .switchObject(.whole))
        service.policy.updateRequired = .open
        let play = try Transcript([service], place: .fixed(try #require(Slot(5)))).answered(order)
        #expect(play.states == [.updateRequired])
    }
}
