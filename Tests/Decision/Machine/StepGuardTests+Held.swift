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

    @Test func anOrderThatIsTakenBackEndsTheWait() throws {
        var play = try held()
        #expect(try play.states(at: 7210, "app", answers: Self.open) == [.running])
        #expect(reason(play) == "flags")
        #expect(asked(play.at(7300, .woke)) == [])
        #expect(play.machine.overview(at: play.now).findings.isEmpty)
    }

    @Test func itIsAProblemOfTheService() throws {
        let play = try held()
        let problems = play.machine.overview(at: play.now).findings
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

    // MARK: Restarts and reloads

    private func memory(
        _ state: State, _ ledger: Ledger? = nil, boot: String = "this-boot"
    ) throws -> Memory {
        var memory = try Memory.stored(
            Self.order, fetchedAt: "2027-03-01T12:00:00Z", state: state, boot: boot)
        if let ledger { memory.ledger = .known(ledger) }
        return memory
    }

    @Test func aReloadWithoutTheGuardLetsTheStepCome() throws {
        var play = try held()
        var plan = play.machine.plan
        plan.guards = [:]
        #expect(
            play.states(at: 7210, .reconfigured(plan, replaced: [:], remembered: [:]))
                == [.maintenance])
    }
}
