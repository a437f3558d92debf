import CivilTime
import Decision
import Support
import Testing

/// Guards: a step of a rollout and a turn of `open_spread` wait until the guard of their service passes.
@Suite struct StepGuardTests {
    /// One hour after the start 1 % of the hosts, after two hours half of them.
    static let order = #"""
        {"state":"maintenance","title":"Closed","rollout":[{"at":"2027-03-01T13:00:00Z","percent":1},{"at":"2027-03-01T14:00:00Z","percent":50}]}
        """#
    static let open = #"{"state":"running"}"#
    static let noSample = GuardAnswer.holds("its query gives no sample")

    /// The service `shop` with the guard `errors`, on a host that the second step of the order reaches, and whose share
    /// of the spread is an eighth.
    func play(
        _ policy: Policy = Policy(minClosed: .zero), slot: Int = 125_000,
        memory: Memory = Memory(), start: String = "2027-03-01T12:00:00Z", services: Int = 1,
        bootedFor: Duration = .seconds(1000)
    ) throws -> Transcript {
        let names = ["shop"] + (1..<services).map { "shop-\($0)" }
        let all = try names.map { try service($0, format: .switchObject(.whole), policy: policy) }
        var plan = Plan(all)
        for service in all { plan.guards[service.name] = "errors" }
        return try Transcript(
            plan: plan, memory: memory, start: start, place: .fixed(try #require(Slot(slot))),
            bootedFor: bootedFor)
    }

    func reason(_ play: Transcript, of service: ServiceName = "shop") -> String? {
        play.machine.publishedVerdict(of: service)?.verdict.reason.slug.rawValue
    }

    /// The guards that these effects ask.
    func asked(_ effects: [Effect]) -> [GuardName] {
        effects.compactMap { if case .ask(let name) = $0 { name } else { nil } }
    }

    // MARK: Steps

    @Test func aStepComesOnceItsGuardPasses() throws {
        var play = try play().answered(Self.order)
        play.at(7199, .woke)
        play.at(7200, .woke)
        play.at(7202, .woke)
        play.at(7203, .guardAnswered("errors", .passes))
        play.expectWithoutFetches(
            #"""
            7199s woke
                publish shop running open rollout #2 until 2027-03-01T14:01:00+00:00
            7200s woke
                publish shop running open rollout #2 until 2027-03-02T00:01:00+00:00
            7202s woke
                ask errors
            7203s errors passes
                remember and publish shop maintenance closed flags title=Closed #3 until 2027-03-02T00:01:00+00:00
                log notice: shop: maintenance (was running): set by the flags of source 'app'
            """#)
    }

    @Test func aStepIsHeldAndItsGuardIsAskedEveryHalfMinute() throws {
        var play = try play().answered(Self.order)
        play.at(7200, .woke)
        play.at(7202, .woke)
        play.at(7203, .guardAnswered("errors", Self.noSample))
        play.at(7226, .woke)
        play.at(7240, .woke)
        play.at(7241, .guardAnswered("errors", Self.noSample))
        play.at(7278, .woke)
        play.at(7283, .guardAnswered("errors", .holds("cannot connect: connection refused")))
        play.at(7320, .woke)
        play.at(7321, .guardAnswered("errors", .passes))
        play.expectWithoutFetches(
            #"""
            7200s woke
                publish shop running open rollout #2 until 2027-03-02T00:01:00+00:00
            7202s woke
                ask errors
            7203s errors holds: its query gives no sample
                publish shop running open awaiting-guard #2 until 2027-03-02T00:01:00+00:00
                log warning: shop: running: guard 'errors' holds the step by which source 'app' closes this host: its query gives no sample; asking again every 30 s, and 'killswitchctl confirm' lets it come
            7226s woke
            7240s woke
                ask errors
            7241s errors holds: its query gives no sample
            7278s woke
                ask errors
            7283s errors holds: cannot connect: connection refused
                publish shop running open awaiting-guard #2 until 2027-03-02T00:01:00+00:00
            7320s woke
                ask errors
            7321s errors passes
                remember and publish shop maintenance closed flags title=Closed #3 until 2027-03-02T00:01:00+00:00
                log notice: shop: maintenance (was running): set by the flags of source 'app'
            """#)
    }

    @Test func aTurnIsHeldUntilTheGuardPasses() throws {
        var play = try play(Policy(minClosed: .zero, openSpread: .seconds(1600)))
            .answered(#"{"state":"maintenance"}"#).receiving(Self.open, at: 60)
        play.at(260, .woke)
        play.at(262, .woke)
        play.at(263, .guardAnswered("errors", Self.noSample))
        play.at(299, .woke)
        play.at(300, .guardAnswered("errors", .passes))
        play.expectWithoutFetches(
            #"""
            60s app answers {"state":"running"} (stored, confirmed)
                remember and publish shop maintenance closed reopening-at #2 until 2027-03-02T00:01:00+00:00
                log notice: shop: maintenance: source 'app' opens the gate again; this host opens it at 2027-03-01T12:04:20+00:00 (open_spread)
            260s woke
            262s woke
                ask errors
            263s errors holds: its query gives no sample
                publish shop maintenance closed awaiting-guard #2 until 2027-03-02T00:01:00+00:00
                log warning: shop: maintenance: guard 'errors' holds the turn of this host to open the gate (open_spread): its query gives no sample; asking again every 30 s, and 'killswitchctl confirm' lets it come
            299s woke
                ask errors
            300s errors passes
                remember and publish shop running open flags #3 until 2027-03-02T00:01:00+00:00
                log notice: shop: running (was maintenance): set by the flags of source 'app'
            """#)
    }

    @Test func anOperatorLetsAHeldStepCome() throws {
        var play = try play().answered(Self.order)
        play.at(7200, .woke)
        play.at(7202, .woke)
        play.at(7203, .guardAnswered("errors", Self.noSample))
        play.forget()
        play.at(7210, .confirm(["shop"], by: "root"))
        play.expectWithoutFetches(
            #"""
            7210s root confirms shop
                remember and publish shop maintenance closed flags title=Closed #3 until 2027-03-02T00:01:00+00:00
                log notice: 'root' confirms their step, which a guard holds: shop
                log notice: shop: maintenance (was running): set by the flags of source 'app'
            """#)
        // It is asked of no more.
        #expect(asked(play.at(7300, .woke)) == [])
        #expect(play.states == [.maintenance])
    }

    @Test func anOperatorLetsATurnCome() throws {
        var play = try play(Policy(minClosed: .zero, openSpread: .seconds(1600)))
            .answered(#"{"state":"maintenance"}"#).receiving(Self.open, at: 60)
        #expect(play.states(at: 262) == [.maintenance])
        #expect(play.states(at: 263, .confirm(["shop"], by: "root")) == [.running])
    }

    /// A confirmation counts for the step that waits, and not for one that will.
    @Test func aConfirmationBeforeTheStepCountsForNothing() throws {
        var play = try play().answered(Self.order)
        play.at(7100, .confirm(["shop"], by: "root"))
        #expect(play.states(at: 7200) == [.running])
        #expect(asked(play.at(7202, .woke)) == ["errors"])
    }

    // MARK: What nobody is asked about

    @Test(arguments: [
        ("an order without steps", #"{"state":"maintenance"}"#),
        (
            "an end",
            #"{"state":"running","ends_at":"2027-03-01T14:00:00Z"}"#
        ),
        (
            "an end after the step",
            #"{"state":"running","ends_at":"2027-03-01T14:00:00Z","rollout":[{"at":"2027-03-01T13:00:00Z","percent":100}]}"#
        ),
        (
            "a window",
            #"{"state":"running","windows":[{"from":"2027-03-01T14:00:00Z","until":"2027-03-01T15:00:00Z"}]}"#
        ),
        (
            "a window after the step",
            #"{"state":"running","windows":[{"from":"2027-03-01T14:00:00Z","until":"2027-03-01T15:00:00Z"}],"rollout":[{"at":"2027-03-01T13:00:00Z","percent":100}]}"#
        ),
    ])
    func nothingElseIsAskedAbout(_ name: String, _ body: String) throws {
        var play = try play().started()
        var questions = asked(try play.at(1, "app", answers: body))
        for seconds in [3600.0, 3603, 7200] { questions += asked(play.at(seconds, .woke)) }
        #expect(questions == [] && play.states.allSatisfy { [.maintenance, .ended].contains($0) })
    }

    /// The end had come before, and waited for the step, which closes the gate.
    @Test func anEndThatWaitedForTheStepIsPartOfIt() throws {
        var play = try play().answered(
            #"{"state":"running","ends_at":"2027-03-01T12:30:00Z","rollout":[{"at":"2027-03-01T13:00:00Z","percent":100}]}"#
        )
        #expect(play.states(at: 3602) == [.countdown])
        #expect(asked(play.at(3604, .woke)) == ["errors"])
        #expect(play.states(at: 3605, .guardAnswered("errors", Self.noSample)) == [.countdown])
        #expect(reason(play) == "awaiting-guard")
        play.at(3643, .woke)
        #expect(play.states(at: 3644, .guardAnswered("errors", .passes)) == [.ended])
    }

    @Test func aHostWithoutAGuardAsksNobody() throws {
        let service = try service(format: .switchObject(.whole))
        var play = try Transcript([service], place: .fixed(try #require(Slot(5)))).answered(
            Self.order)
        #expect(play.states(at: 3600) == [.maintenance])
        #expect(asked(play.at(3602, .woke)) == [])
    }

    @Test func anOrderOfAnOperatorAsksNobody() throws {
        var play = try play().answered(Self.order)
        play.at(7200, .woke)
        let order = try Override.order(.maintenance, until: "2027-03-01T14:10:00Z")
        let effects = play.at(7201, .force("shop", order, ifOpen: false))
        #expect(asked(effects) == [] && play.states == [.maintenance])
        #expect(asked(play.at(7300, .woke)) == [])
    }

    /// The drill of the month must not bring in a step that the guard holds.
    @Test func aDrillDoesNotBringTheStep() throws {
        var play = try play().answered(Self.order)
        play.at(7202, .woke)
        play.at(7204, .woke)
        play.at(7205, .guardAnswered("errors", Self.noSample))
        let drill = try Override.order(.maintenance, until: "2027-03-01T14:00:20Z")
        #expect(play.states(at: 7210, .force("shop", drill, ifOpen: true)) == [.maintenance])
        play.at(7215, .woke)
        // The gate stays as it is until the guard has answered, for some seconds.
        #expect(play.states(at: 7220) == [.maintenance])
        #expect(asked(play.at(7222, .woke)) == ["errors"])
        #expect(play.states(at: 7223, .guardAnswered("errors", Self.noSample)) == [.running])
        #expect(reason(play) == "awaiting-guard")
    }

    @Test func anOrderThatKeepsTheGateOpenDoesNotBringTheStep() throws {
        var play = try play().answered(Self.order)
        let order = try Override.order(.running, until: "2027-03-01T14:10:00Z")
        play.at(7100, .force("shop", order, ifOpen: false))
        play.at(7200, .woke)
        #expect(asked(play.at(7300, .woke)) == [])
        #expect(play.states(at: 7800) == [.running])
        #expect(asked(play.at(7802, .woke)) == ["errors"])
        #expect(play.states(at: 7803, .guardAnswered("errors", .passes)) == [.maintenance])
    }

    @Test func flagsOfAnotherSourceThatCloseAskNobody() throws {
        let service = try service(format: .switchObject(.whole), sources: ["app", "boss"])
        var plan = Plan([service])
        plan.guards = ["shop": "errors"]
        var play = try Transcript(plan: plan, place: .fixed(try #require(Slot(5)))).started()
        try play.at(1, "app", answers: Self.order)
        try play.at(2, "boss", answers: Self.open)
        #expect(play.states(at: 3600) == [.running])
        #expect(
            try play.states(at: 3601, "boss", answers: #"{"state":"maintenance"}"#)
                == [.maintenance])
        #expect(asked(play.at(3700, .woke)) == [])
    }
}
