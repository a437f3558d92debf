import CivilTime
import Decision
import Support
import Testing

/// What holds for every decision: the tests enumerate every reading, age, problem, policy, circumstance
/// and override. Each pass checks several invariants, because the enumeration takes the time.
@Suite(.timeLimit(.minutes(5))) struct InvariantTests {
    private let services: [Service]

    init() throws {
        services = try Domain.policies.map { try service(policy: $0, sources: ["app"]) }
    }

    @Test func everyDecisionOnOneSwitchKeepsTheInvariants() throws {
        let evidence = Domain.evidence(on: "app")
        var census = Census()
        for service in services {
            for circumstances in Domain.circumstances {
                for evidence in evidence { census.count(evidence, of: service, in: circumstances) }
            }
        }
        census.record(.minClosed("app", until: Zone.utc.zoned(Domain.now), limit: .seconds(5)))
        census.record(.closingHeld("app"))
        for isTurn in [false, true] {
            let hold = GuardHold(name: "errors", cause: "its query gives no sample")
            census.record(.awaitingGuard("app", hold, isTurn: isTurn))
        }
        for slug in Reason.Slug.allCases
        where slug.finding == .invalidAnswer && slug != .invalidAnswer {
            let refusal = DocumentRefusal(slug, "it is \(slug.rawValue)")
            census.record(.invalidAnswer("app", InvalidFlag(Failure(refusal))))
        }
        census.record(.reopening("app", at: Zone.utc.zoned(Domain.now)))
        for gate in Gate.allCases { census.record(.unreadableFlags("app", gate)) }
        try census.record(overridesOf: services[0])

        #expect(census.decisions > 50_000)
        // An error is never an order.
        #expect(census.orders == [])
        // No reading opens what the policy closes.
        #expect(census.openings == [])
        #expect(census.closedByPolicy.values.allSatisfy { $0 > 100 })
        #expect(census.closedByPolicy.count == 3)
        // The same input gives the same verdict.
        #expect(census.changes == [])
        // Every reason has one slug, and a sentence of its own.
        #expect(census.slugs.values.allSatisfy { $0.count == 1 })
        #expect(Set(census.slugs.values.flatMap(\.self)) == Set(Reason.Slug.allCases))
        for sentence in census.slugs.keys {
            #expect(!sentence.isEmpty && !sentence.hasSuffix(".") && !sentence.contains("\n"))
        }
        // The gate follows from the state, and verdicts of stale flags are marked as stale.
        #expect(census.contradictions == [])
    }

    /// An override is the verdict whatever flags and policy say. An expired override changes nothing.
    @Test func everyOverrideIsTheVerdictUntilItIsOver() throws {
        let evidence = Domain.evidence(on: "app", problems: [.none])
        var (forced, over) = (0, 0)
        var violations: [String] = []
        for override in Domain.overrides.compactMap(\.self) {
            for service in services {
                let gate = service.policy.gate(of: override.state)
                for circumstances in Domain.circumstances.suffix(2) {
                    var ordered = circumstances
                    ordered.override = override
                    for evidence in evidence {
                        let verdict = service.decide([evidence], in: ordered)
                        let isRight: Bool
                        if override.until.map({ $0 > Domain.now }) ?? true {
                            forced += 1
                            isRight =
                                verdict.state == override.state && verdict.gate == gate
                                && verdict.reason.slug == .overridden
                                && verdict.override == override
                        } else {
                            over += 1
                            isRight = verdict == service.decide([evidence], in: circumstances)
                        }
                        if !isRight { violations.append("\(override) \(evidence): \(verdict)") }
                    }
                }
            }
        }
        #expect(violations.prefix(3) == [])
        #expect(forced > 30_000 && over > 6000)
    }

    /// Two switches: if one closes, the other cannot open; a switch that is still awaited opens nothing;
    /// the order of the two makes no difference.
    @Test func noSwitchOpensWhatAnotherCloses() throws {
        let evidence = Domain.evidence(on: "app", problems: [.none], clocks: [.host]).filter {
            !$0.isAwaited || $0.age == .zero
        }
        let circumstances = Domain.circumstances[0]
        var count = 0
        var violations: [String] = []
        for (number, service) in services.enumerated() {
            let single = evidence.map { service.opinion(of: $0, in: circumstances) }
            for (index, one) in evidence.enumerated() {
                for (position, other) in evidence.enumerated() where position >= index {
                    count += 1
                    let verdict = service.decide([one, other], in: circumstances)
                    let pair = [single[index], single[position]]
                    let isClosed = pair.contains { $0?.gate == .closed }
                    let isOpen = pair.allSatisfy { $0?.gate == .open }
                    // The order does not depend on the policy, so a few policies are enough.
                    let mirrored =
                        number.isMultiple(of: 5)
                        ? service.decide([other, one], in: circumstances) : verdict
                    let isRight =
                        isClosed == (verdict.gate == .closed) && (isOpen || verdict.gate != .open)
                        && verdict.isSameOrder(as: mirrored)
                    if !isRight { violations.append("\(one) \(other): \(verdict)") }
                }
            }
        }
        #expect(violations.prefix(3) == [])
        #expect(count > 50_000)
    }
}

extension Verdict {
    /// Whether two verdicts are the same order; the reason may name either of two equal switches.
    fileprivate func isSameOrder(as other: Verdict) -> Bool {
        state == other.state && gate == other.gate && endsAt == other.endsAt
            && daysLeft == other.daysLeft
    }
}

/// No error moves a gate in any state and under any order, and none ends the polling. This tests the
/// whole machine, not only the decision.
@Suite struct ErrorTests {
    static let states = State.allCases.filter { $0 != .undecided }

    private static let failures: [Outcome] = [
        .failure(Failure(.unreachable, "connection refused")),
        .failure(Failure(.unreachable, "503", retryAfter: .seconds(30))),
        .failure(Failure(.refused, "403")),
        .failure(Failure(.invalid, "the answer is a web page, not JSON")),
    ]

    private static let bodies = [
        "{}", #"{"state":"over"}"#, #"{"state":7}"#, #"{"state":null}"#, #"{"state":"undecided"}"#,
        #"{"state":"ended","ends_at":"soon"}"#, #"{"state":"ended","windows":7}"#,
        #"{"state":"ended","windows":[{}]}"#, #"{"state":"ended"}"#,
        #"{"state":"ended","version":1}"#, #"{"state":"running","version":2.5}"#,
        #"{"state":"running","version":1,"minimum_version":" "}"#,
    ]

    @Test(arguments: states, [nil] + states.map(Optional.some))
    func noErrorMovesAGate(in state: State, under override: State?) throws {
        let shop = try service(format: .switchObject(.whole), policy: Policy(minClosed: .zero))
        var play = try Transcript([shop]).started()
        try play.at(1, "app", answers: #"{"state":"\#(state.rawValue)","version":9}"#)
        if let override { play.at(2, .force(shop.name, try .order(override))) }
        let outcomes =
            try Self.failures
            + Self.bodies.map { .answer(try answer($0, fetchedAt: play.now.wall)) }
        for (index, outcome) in outcomes.enumerated() {
            let effects = play.at(Double(10 + index), .fetchEnded("app", outcome))
            for effect in effects {
                if case .publish(_, let record) = effect {
                    #expect(record.verdict.state == override ?? state, "\(outcome)")
                }
                if case .storeFlags = effect { Issue.record("stored: \(outcome)") }
            }
            #expect(play.machine.isProgressing(at: play.now))
        }
        #expect(
            play.machine.overview(at: play.now).services.map(\.state)
                == [override ?? state])
    }

    /// Two machines with the same seed and the same events have the same effects, jitter included.
    @Test func theSameEventsGiveTheSameEffects() throws {
        let shop = try service(format: .switchObject(.whole))
        var (one, other) = (try Transcript([shop]), try Transcript([shop]))
        for (index, body) in (Self.bodies + [#"{"state":"maintenance","version":10}"#]).enumerated()
        {
            let (left, right) = (
                try one.at(Double(index), "app", answers: body),
                try other.at(Double(index), "app", answers: body)
            )
            #expect(left == right)
        }
        #expect(one.text == other.text)
    }
}
