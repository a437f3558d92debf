import CivilTime
import Decision
import Support
import Testing

/// While a step is held: other orders, other services, restarts and reloads.
extension StepGuardTests {
    // MARK: While a step is held

    private func held(_ policy: Policy = Policy(minClosed: .zero)) throws -> Transcript {
        var play = try play(policy).answered(Self.order)
        play.at(7200, .woke)
        play.at(7202, .woke)
        play.at(7203, .guardAnswered("errors", Self.noSample))
        #expect(play.states == [.running] && reason(play) == "awaiting-guard")
        return play
    }

    @Test func anEmergencyOrderClosesAtOnce() throws {
        var play = try held()
        #expect(
            try play.states(at: 7210, "app", answers: #"{"state":"maintenance"}"#)
                == [.maintenance])
        #expect(asked(play.at(7300, .woke)) == [])
    }

    @Test func anOrderThatIsTakenBackEndsTheWait() throws {
        var play = try held()
        #expect(try play.states(at: 7210, "app", answers: Self.open) == [.running])
        #expect(reason(play) == "flags")
        #expect(asked(play.at(7300, .woke)) == [])
        #expect(play.machine.overview(at: play.now).problems.isEmpty)
    }

    @Test func stalenessThatClosesIsNotHeld() throws {
        var play = try held(
            Policy(maxStale: .seconds(7300), whenStale: .closed, minClosed: .zero))
        #expect(play.states(hangingUntil: 7299) == [.running])
        #expect(play.states(hangingUntil: 7301) == [.maintenance])
    }

    @Test func itIsAProblemOfTheService() throws {
        let play = try held()
        let problems = play.machine.overview(at: play.now).problems
        #expect(problems.map(\.kind) == [.stepHeld])
        #expect(
            problems.map(\.sentence) == [
                "shop: guard 'errors' holds the step by which source 'app' closes this host: its query "
                    + "gives no sample; asking again every 30 s, and 'killswitchctl confirm' lets it come"
            ])
        let views = play.machine.overview(at: play.now).guards
        #expect(views.map(\.name) == ["errors"] && views.first?.services == ["shop"])
        #expect(play.machine.guardHolding("shop") == "errors")
    }

    /// An answer that nobody waits for any more, the second of one question, and one of an unknown guard.
    @Test func answersThatNobodyAskedForCountForNothing() throws {
        var play = try play().answered(Self.order)
        play.at(7100, .guardAnswered("errors", .passes))
        play.at(7200, .woke)
        play.at(7200.1, .guardAnswered("other", .passes))
        #expect(play.states == [.running])
        play.at(7202, .woke)
        play.at(7203, .guardAnswered("errors", Self.noSample))
        #expect(play.states(at: 7203.1, .guardAnswered("errors", .passes)) == [.running])
    }

    /// A question whose answer never comes must not hold a step for ever without a word.
    @Test func aLostQuestionIsAskedAgain() throws {
        var play = try play().answered(Self.order)
        play.at(7200, .woke)
        #expect(asked(play.at(7202, .woke)) == ["errors"])
        #expect(asked(play.at(7261, .woke)) == [])
        #expect(asked(play.at(7262, .woke)) == ["errors"])
    }

    // MARK: Many services

    @Test func aHundredServicesAskOneQuestion() throws {
        var play = try play(services: 100).answered(Self.order)
        #expect(asked(play.at(7200, .woke)) == [])
        #expect(asked(play.at(7202, .woke)) == ["errors"])
        #expect(
            play.states(at: 7203, .guardAnswered("errors", Self.noSample)).allSatisfy {
                $0 == .running
            })
        #expect(asked(play.at(7239, .woke)) == ["errors"])
        #expect(
            play.states(at: 7240, .guardAnswered("errors", .passes)).allSatisfy {
                $0 == .maintenance
            })
    }

    /// `mail` and `shop` hear of their orders at different times.
    @Test(arguments: [(4.9, []), (5.1, ["errors"])] as [(Double, [GuardName])])
    func anAnswerIsSharedForFiveSeconds(_ later: Double, _ asks: [GuardName]) throws {
        let services = [
            try service("mail", format: .switchObject(.whole), sources: ["post"]),
            try service(format: .switchObject(.whole)),
        ]
        var plan = Plan(services)
        plan.guards = ["shop": "errors", "mail": "errors"]
        var play = try Transcript(plan: plan, place: .fixed(try #require(Slot(5)))).started()
        try play.at(1, "post", answers: Self.open)
        try play.at(1, "app", answers: Self.open)
        try play.at(3700, "app", answers: Self.order)
        #expect(asked(play.at(3702, .woke)) == ["errors"])
        play.at(3703, .guardAnswered("errors", .passes))
        #expect(play.states == [.running, .maintenance])
        try play.at(3703 + later, "post", answers: Self.order)
        #expect(asked(play.at(3703 + later + 2, .woke)) == asks)
        #expect(play.states == [asks.isEmpty ? .maintenance : .running, .maintenance])
    }

    @Test func anotherServiceIsNotDelayed() throws {
        let services = [
            try service("mail", format: .switchObject(.whole)),
            try service(format: .switchObject(.whole)),
        ]
        var plan = Plan(services)
        plan.guards = ["shop": "errors"]
        var play = try Transcript(plan: plan, place: .fixed(try #require(Slot(5)))).answered(
            Self.order)
        #expect(play.states(at: 3600) == [.maintenance, .running])
    }

    // MARK: Restarts and reloads

    private func memory(
        _ state: State, _ ledger: Ledger? = nil, boot: String = "this-boot"
    ) throws -> Memory {
        var memory = try Memory.stored(
            Self.order, fetchedAt: "2027-03-01T12:00:00Z", state: state, boot: boot)
        if let ledger { memory.ledger = .known(ledger) }
        return memory
    }

    @Test(arguments: ["this-boot", "another-boot"])
    func aHostThatTookPartStaysInItOverARestart(_ boot: String) throws {
        var play = try play(
            memory: memory(.maintenance, boot: boot), start: "2027-03-01T14:00:10Z")
        #expect(play.states(at: 0, .started) == [.maintenance])
        #expect(asked(play.at(60, .woke)) == [])
    }

    @Test func aHeldStepStaysHeldOverARestart() throws {
        var play = try play(memory: memory(.running), start: "2027-03-01T14:00:10Z")
        #expect(play.states(at: 0, .started) == [.running])
        #expect(asked(play.at(2, .woke)) == ["errors"])
        #expect(play.states(at: 3, .guardAnswered("errors", Self.noSample)) == [.running])
        #expect(reason(play) == "awaiting-guard")
    }

    /// Nothing is started only to be stopped: after a boot the first answer is awaited.
    @Test func afterABootTheFirstAnswerDecides() throws {
        var play = try play(
            memory: memory(.running, boot: "another-boot"), start: "2027-03-01T14:00:10Z")
        #expect(play.states(at: 0, .started) == [.undecided])
        #expect(asked(play.at(2, .woke)) == ["errors"])
        #expect(play.states(at: 3, .guardAnswered("errors", .passes)) == [.maintenance])
    }

    @Test func aTurnThatIsHeldStaysHeldOverARestart() throws {
        let policy = Policy(minClosed: .zero, openSpread: .seconds(1600))
        let play = try play(policy).answered(#"{"state":"maintenance"}"#).receiving(
            Self.open, at: 60)
        var memory = try Memory.stored(
            Self.open, fetchedAt: "2027-03-01T12:01:00Z", state: .maintenance)
        memory.ledger = .known(play.ledger)
        var next = try self.play(
            policy, memory: memory, start: "2027-03-01T12:10:00Z", bootedFor: .seconds(1600))
        #expect(next.states(at: 0, .started) == [.maintenance])
        #expect(asked(next.at(2, .woke)) == ["errors"])
        #expect(next.states(at: 3, .guardAnswered("errors", .passes)) == [.running])
    }

    @Test func aReloadWithoutTheGuardLetsTheStepCome() throws {
        var play = try held()
        var plan = play.machine.plan
        plan.guards = [:]
        #expect(
            play.states(at: 7210, .reconfigured(plan, replaced: [:], remembered: [:]))
                == [.maintenance])
    }

    /// The guard may ask another question now. Why the step is held is told until it has answered.
    @Test func aReloadAsksAgainAndSaysNothingNew() throws {
        var play = try held()
        play.forget()
        play.at(7210, .reconfigured(play.machine.plan, replaced: [:], remembered: [:]))
        #expect(asked(play.at(7212, .woke)) == ["errors"])
        play.at(7213, .guardAnswered("errors", Self.noSample))
        #expect(!play.text.contains("publish") && !play.text.contains("log"), "\(play.text)")
        #expect(reason(play) == "awaiting-guard")
    }

    @Test func whatPassedBeforeAReloadIsAskedAgain() throws {
        var play = try play(services: 2).answered(Self.order)
        play.at(7200, .woke)
        play.at(7202, .woke)
        play.at(7202.5, .reconfigured(play.machine.plan, replaced: [:], remembered: [:]))
        #expect(
            play.states(at: 7203, .guardAnswered("errors", .passes)) == [.running, .running])
        #expect(asked(play.at(7205, .woke)) == ["errors"])
    }

    /// The step passes, and closes more services than may close at once: two guards, each for itself.
    @Test func theHostGuardHoldsWhatTheGuardLetsPass() throws {
        var plan = try play(services: 3).machine.plan
        plan.guardLimits = GuardLimits(count: 2)
        var play = try Transcript(plan: plan, place: .fixed(try #require(Slot(5)))).answered(
            Self.order)
        play.at(3600, .woke)
        play.at(3602, .woke)
        play.at(3603, .guardAnswered("errors", .passes))
        #expect(reason(play) == "closing-held" && asked(play.at(3700, .woke)) == [])
        play.at(3701, .confirm(["shop", "shop-1", "shop-2"], by: "root"))
        #expect(play.states == [.maintenance, .maintenance, .maintenance])
    }
}
