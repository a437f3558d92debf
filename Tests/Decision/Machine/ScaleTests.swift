import CivilTime
import Decision
import Support
import Testing

/// What an event costs with many services: what has changed is looked at, and nothing else.
@Suite struct ScaleTests {
    private static let count = 1000

    /// Services `s0`, `s1` … of one source, each with a key of its name.
    private func plan(policy: Policy = Policy(minClosed: .zero)) throws -> Plan {
        Plan(
            try (0..<Self.count).map { number in
                try service(
                    "s\(number)", format: .switchObject(.member("s\(number)")), policy: policy)
            })
    }

    /// Flags by which every service runs but these.
    private func flags(ended: Set<Int> = [], without missing: Int? = nil) -> String {
        let members = (0..<Self.count).filter { $0 != missing }.map { number in
            "\"s\(number)\": {\"state\": \"\(ended.contains(number) ? "ended" : "running")\"}"
        }
        return "{\(members.joined(separator: ", "))}"
    }

    private func begin(policy: Policy = Policy(minClosed: .zero)) throws -> Transcript {
        var play = try Transcript(plan: try plan(policy: policy)).started()
        try play.at(1, "app", answers: flags())
        return play
    }

    @Test func anAnswerTouchesOnlyTheServicesThatItConcerns() throws {
        var play = try begin()
        let before = play.machine.publicationCount
        #expect(published(try play.at(60, "app", answers: flags(ended: [7]))) == ["s7"])
        #expect(play.machine.publicationCount == before + 1)
    }

    @Test func allServicesThatAnAnswerConcernsAreDecidedInTheirOrder() throws {
        var play = try begin()
        let chosen = Set((0..<Self.count).filter { !$0.isMultiple(of: 3) })
        let effects = try play.at(60, "app", answers: flags(ended: chosen))
        #expect(published(effects) == chosen.sorted().map { "s\($0)" })
        let back = try play.at(120, "app", answers: flags(ended: [998]))
        #expect(published(back) == chosen.sorted().filter { $0 != 998 }.map { "s\($0)" })
    }

    /// An answer that says the same of a service is a confirmation, as if it were the same answer.
    @Test func anAnswerAboutOthersConfirmsTheFlagsOfAService() throws {
        let policy = Policy(maxStale: .seconds(600), whenStale: .closed, minClosed: .zero)
        var play = try begin(policy: policy).receiving(flags(ended: [7]), at: 400)
        play.hang(until: 900)
        play.at(900, .woke)
        #expect(play.states.filter { $0 == .running }.count == Self.count - 1)
        play.hang(until: 1001)
        play.at(1001, .woke)
        #expect(play.states.allSatisfy { $0 != .running })
    }

    /// A service that an answer did not concern still sees the next one, also where its key is gone.
    @Test func whatDidNotChangeOnceMayChangeTheNextTime() throws {
        var play = try begin().receiving(flags(ended: [7]), at: 60)
        #expect(published(try play.at(120, "app", answers: flags(ended: [7, 8]))) == ["s8"])
        let invalid = try play.at(180, "app", answers: flags(ended: [7, 8], without: 9))
        #expect(published(invalid) == ["s9"])
        #expect(try published(play.at(240, "app", answers: flags(ended: [7, 8]))) == ["s9"])
        #expect(play.states.filter { $0 == .ended }.count == 2)
    }

    /// Whatever the order of the configuration is, what closes is written first, and before anything is said of it.
    @Test func closingsComeBeforeEverythingElse() throws {
        let before = Set((0..<Self.count).filter { $0.isMultiple(of: 2) })
        var play = try begin().receiving(flags(ended: before), at: 60)
        let after = Set((0..<Self.count).filter { !$0.isMultiple(of: 2) })
        let effects = try play.at(120, "app", answers: flags(ended: after))
        let (closed, opened) = (after.sorted(), before.sorted())
        #expect(published(effects) == (closed + opened).map { "s\($0)" })
        guard case .storeFlags = effects.first, case .storeLedger = effects.dropFirst().first else {
            Issue.record("the effects begin with \(effects.prefix(2))")
            return
        }
    }

    /// What one answer closes is judged as a whole.
    @Test func theHostGuardJudgesTheClosingsOfAnAnswerTogether() throws {
        var plan = try plan()
        plan.guardLimits.count = 500
        var play = try Transcript(plan: plan).started().receiving(flags(), at: 1)
        try play.at(62, "app", answers: flags(ended: Set(0..<Self.count)))
        #expect(play.states.allSatisfy { $0 == .running })
        play.at(63, .confirm(plan.services.map(\.name), by: "root"))
        #expect(play.states.allSatisfy { $0 == .ended })
    }
}

/// Many services that follow two people by one source.
@Suite struct ManyReadersTests {
    private static func signed(_ count: Int) throws -> Transcript {
        var plan = Plan(
            try (0..<count).map {
                try service("s\($0)", format: .switchObject(.whole), policy: .twoSignatures)
            })
        plan.sources[0].audience = "prod"
        var play = try Transcript(plan: plan).started()
        try play.accept(2, Orders.open, version: 1, by: ["alice", "bob"])
        return play
    }

    /// The document counts as soon as the other person has signed it too, and each service carries it out.
    @Test func anOrderOfOnePersonKeepsNoSecondSignatureOut() throws {
        var play = try Self.signed(30)
        try play.accept(60, Orders.closed, version: 2, by: ["alice"])
        #expect(try play.reason("s29") == .awaitingSignature)
        try play.accept(120, Orders.closed, version: 2, by: ["alice", "bob"])
        #expect(play.states.allSatisfy { $0 == .maintenance })
    }

    /// A window that is over moves no gate any more.
    @Test func anOrderThatWaitsForASignatureCountsOnceItMovesNoGate() throws {
        var play = try Self.signed(2)
        let window = #","windows":[{"from":"2027-03-01T12:10:00Z","until":"2027-03-01T12:20:00Z"}]"#
        try play.accept(60, try signedOrder(Orders.open, version: 2, by: ["alice", "bob"]))
        let open = try signedOrder(Orders.open + window, version: 3, by: ["alice"])
        try play.accept(120, open)
        #expect(try play.reason("s0") == .awaitingSignature)
        play.hang(until: 1260)
        try play.accept(1260, open)
        #expect(try play.reason("s0") == .flags)
    }
}

/// Progress, on which the sign of life for the watchdog depends.
@Suite struct ProgressTests {
    @Test func aFetchGoesOnUntilItsTimeLimit() throws {
        let play = try Transcript([try service()]).started()
        #expect(play.machine.isProgressing(at: play.now))
        // The limit is 30 s, and a busy host may be five seconds late.
        for seconds in [30, 35] { #expect(play.isProgressing(after: .seconds(seconds))) }
        #expect(!play.isProgressing(after: .seconds(36)))
    }

    @Test func aTimerAheadIsProgressAndALostOneIsNot() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no, at: 1)
        #expect(play.isProgressing(after: .seconds(40)))
        #expect(!play.isProgressing(after: .seconds(80)))
        play.at(80, .woke)
        #expect(play.machine.isProgressing(at: play.now))
    }

    @Test func oneSourceThatHangsIsEnough() throws {
        let play = try Transcript([try service(sources: ["app", "other"])])
            .answered(ServiceEnd.no, at: 1)
        #expect(play.isProgressing(after: .seconds(30)))
        #expect(!play.isProgressing(after: .seconds(40)))
    }

    @Test func aFailedSourceHasATimerAhead() throws {
        var play = try Transcript([try service()]).started()
        play.at(30, .fetchEnded("app", .failure(Failure(.unreachable, "timed out"))))
        #expect(play.machine.isProgressing(at: play.now))
    }

    @Test func theOverviewSaysHowThingsStand() throws {
        var play = try Transcript([try service(), try service("web", sources: ["app", "other"])])
            .answered(ServiceEnd.no, at: 1)
        play.at(2, .fetchEnded("other", .failure(Failure(.unreachable, "timed out"))))
        play.at(12, .hinted("app"))
        let overview = play.machine.overview(at: play.now)
        #expect(overview.services.map(\.state) == [.running, .undecided])
        #expect(overview.services.map(\.decidesWithin) == [nil, .seconds(18)])
        #expect(overview.sources.map(\.age) == [.seconds(11), nil])
        #expect(overview.sources.map { $0.nextPoll == nil } == [true, true])
        #expect(overview.sources.map(\.problem) == [nil, "timed out"])
        #expect(
            overview.findings.map(\.sentence) == [
                "source 'other': timed out; no valid flags are known yet"
            ])
    }
}

extension Transcript {
    /// The answer of the machine this long after the last event, if nothing else happens.
    fileprivate func isProgressing(after wait: Duration) -> Bool {
        machine.isProgressing(at: Now(wall: now.wall + wait, boot: now.boot + wait))
    }
}
