import CivilTime
import Decision
import JSON
import Support
import Testing

/// What hostile answers cost where many services read them, in work that is counted: readings, comparisons, and shares
/// of the loop. `Benchmarks/hostile/run` measures the same in time and memory.
@Suite struct AnswerCostTests {
    private static func windows(_ count: Int, title: String = "w") -> String {
        let windows = (0..<count).map { index in
            let from = Instant(seconds: 1_804_000_000 + Int64(index) * 7200)
            let until = Zone.utc.rfc3339(from + .seconds(3600))
            return #"{"from":"\#(Zone.utc.rfc3339(from))","until":"\#(until)","title":"\#(title)"}"#
        }
        return #""windows":[\#(windows.joined(separator: ","))]"#
    }

    private static func steps(_ count: Int) -> String {
        let steps = (0..<count).map { index in
            let at = Zone.utc.rfc3339(Instant(seconds: 1_804_000_000 + Int64(index) * 3600))
            return #"{"at":"\#(at)","percent":\#(Double(index + 1) * 100 / Double(count))}"#
        }
        return #""rollout":[\#(steps.joined(separator: ","))]"#
    }

    /// Services of one source, which read it alike, and `other` with a source of its own.
    private static func plan(_ count: Int, policy: Policy = Policy(minClosed: .zero)) throws -> Plan
    {
        var services = try (0..<count).map {
            try service("s\($0)", format: .switchObject(.whole), policy: policy)
        }
        services.append(
            try service(
                "other", format: .switchObject(.whole), policy: Policy(minClosed: .zero),
                sources: ["quiet"]))
        return Plan(services)
    }

    private static func started(_ plan: Plan, place: HostPlace = .named("host")) throws
        -> Transcript
    {
        var play = try Transcript(plan: plan, place: place).started()
        try play.at(1, "quiet", answers: #"{"state":"running"}"#)
        return play
    }

    @Test(arguments: [1, 30, 300]) func anAnswerIsReadOnceForAllThatReadItAlike(count: Int) throws {
        var play = try Self.started(try Self.plan(count))
        let before = play.machine.workload
        try play.at(2, "app", answers: #"{"state":"running",\#(Self.windows(64))}"#)
        #expect(play.machine.workload.readings == before.readings + 1)
        try play.at(62, "app", answers: #"{"state":"running","title":"x",\#(Self.windows(64))}"#)
        #expect(play.machine.workload.readings == before.readings + 2)
        #expect(play.machine.workload.likenesses == before.likenesses + 1)
    }

    /// It is shown at each poll, and read at the first.
    @Test func anAnswerOverItsLimitsIsReadOnce() throws {
        var play = try Self.started(try Self.plan(30))
        let before = play.machine.workload
        for poll in 1...5 {
            try play.at(
                Double(60 * poll), "app", answers: #"{"state":"running",\#(Self.windows(16_507))}"#)
        }
        #expect(play.machine.workload.readings == before.readings + 1)
        #expect(play.machine.workload.likenesses == before.likenesses)
        #expect(play.text.contains("key 'windows' has 16507 windows, and at most 64 are read"))
    }

    @Test func valuesAreReadAsJSONOnceForAllServices() throws {
        var plan = try Self.plan(30)
        for index in plan.services.indices.dropLast() {
            plan.services[index].values = [
                RemoteValue(name: "v", source: "app", key: "v", type: .json)
            ]
        }
        var play = try Self.started(plan)
        let before = play.machine.workload
        try play.at(2, "app", answers: #"{"state":"running","v":"[1,2,3]"}"#)
        #expect(play.machine.workload.readings == before.readings + 2)
    }

    private static let twoSignatures = Policy.twoSignatures

    /// A source with signers, whose services all follow two people.
    private static func signed(_ count: Int) throws -> Transcript {
        var plan = try plan(count, policy: twoSignatures)
        plan.sources[0].audience = "prod"
        var play = try started(plan)
        try play.accept(2, Orders.open + "," + windows(64), version: 1, by: ["alice", "bob"])
        return play
    }

    @Test(arguments: [1, 30, 300])
    func anOrderOfOnePersonIsComparedOnceForAllServices(count: Int) throws {
        var play = try Self.signed(count)
        let before = play.machine.workload
        let order = try signedOrder(Orders.open + "," + Self.windows(63), version: 2, by: ["alice"])
        for poll in 1...5 { try play.accept(Double(60 * poll), order) }
        #expect(try play.reason("s0") == .awaitingSignature)
        #expect(play.machine.workload.comparisons == before.comparisons + 1)
        #expect(play.machine.workload.readings == before.readings + 1)
    }

    /// Without a seed each service has another slot. Those that the same step reaches are alike.
    @Test func stepsAreComparedOnceForThoseThatTheyReachAtOneTime() throws {
        var play = try Self.signed(300)
        let before = play.machine.workload
        let order = try signedOrder(Orders.closed + "," + Self.steps(4), version: 2, by: ["alice"])
        for poll in 1...3 { try play.accept(Double(60 * poll), order) }
        #expect(try play.reason("s0") == .awaitingSignature)
        #expect(play.machine.workload.comparisons <= before.comparisons + 4)
    }

    /// The document counts as soon as the other person has signed it too, and each service carries it out.
    @Test func whatIsRememberedOfAnOrderKeepsNoSignatureOut() throws {
        var play = try Self.signed(30)
        try play.accept(60, Orders.closed, version: 2, by: ["alice"])
        #expect(try play.reason("s29") == .awaitingSignature)
        try play.accept(120, Orders.closed, version: 2, by: ["alice", "bob"])
        #expect(play.states.dropLast().allSatisfy { $0 == .maintenance })
    }

    /// A window that is over moves no gate any more: what was compared before does not say otherwise.
    @Test func whatIsRememberedOfAnOrderGoesWithTheTime() throws {
        var play = try Self.signed(2)
        let window = #","windows":[{"from":"2027-03-01T12:10:00Z","until":"2027-03-01T12:20:00Z"}]"#
        var open = try signedOrder(Orders.open, version: 2, by: ["alice", "bob"])
        try play.accept(60, open)
        open = try signedOrder(Orders.open + window, version: 3, by: ["alice"])
        try play.accept(120, open)
        #expect(try play.reason("s0") == .awaitingSignature)
        play.hang(until: 1260)
        try play.accept(1260, open)
        #expect(try play.reason("s0") == .flags)
    }

    // MARK: - Shares

    private func handle(
        _ machine: inout Machine, _ source: String, _ body: String, at now: Now
    ) throws -> [Effect] {
        let answer = try answer(body, fetchedAt: now.wall)
        return machine.handle(.fetchEnded(try named(source), .answer(answer)), at: now)
    }

    /// While hundreds of services are decided, a closing of another source is decided in its own event.
    @Test func anotherSourceComesInBetween() throws {
        let play = try Self.started(try Self.plan(300))
        var machine = play.machine
        let first = try handle(&machine, "app", #"{"state":"ended"}"#, at: play.now)
        #expect((1...100).contains(published(first).count))
        #expect(machine.hasUnfinishedWork)
        #expect(machine.isOffering("app"))
        // The flags are stored before anybody acts on them.
        guard case .storeFlags(let name, _) = try #require(first.first) else {
            Issue.record("the first effect is \(first[0])")
            return
        }
        #expect(name.text == "app")
        let other = try handle(&machine, "quiet", #"{"state":"ended"}"#, at: play.now)
        #expect(published(other) == ["other"])
        var names = published(first)
        var turns = 0
        while machine.hasUnfinishedWork {
            let effects = machine.handle(.woke, at: play.now)
            #expect(published(effects).count <= 100)
            names += published(effects)
            turns += 1
        }
        #expect(names == (0..<300).map { "s\($0)" })
        #expect((2...12).contains(turns))
        #expect(machine.isProgressing(at: play.now))
    }

    /// All services of a plan are due at midnight, and an event decides a share of them.
    @Test func servicesThatAreDueTogetherAreDecidedInShares() throws {
        let play = try Self.started(try Self.plan(300)).receiving(#"{"state":"running"}"#, at: 2)
        var machine = play.machine
        let midnight = Now(
            wall: try Instant(rfc3339: "2027-03-02T00:00:00Z"),
            boot: play.now.boot + .seconds(43_198))
        let effects = machine.handle(.woke, at: midnight)
        #expect((1...100).contains(published(effects).count))
        let other = try handle(&machine, "quiet", #"{"state":"ended"}"#, at: midnight)
        #expect(published(other).first == "other")
        while machine.hasUnfinishedWork { _ = machine.handle(.woke, at: midnight) }
        #expect(machine.publishedVerdict(of: "s299")?.decidedAt == midnight.wall)
    }

    /// The host guard judges the closings of an answer together, however long it takes.
    @Test func theHostGuardJudgesTheClosingsOfAnAnswerTogether() throws {
        var plan = try Self.plan(300)
        plan.guardLimits.count = 150
        var play = try Self.started(plan).receiving(#"{"state":"running"}"#, at: 2)
        try play.at(62, "app", answers: #"{"state":"ended"}"#)
        #expect(play.states.allSatisfy { $0 == .running })
        play.at(63, .confirm(plan.services.map(\.name), by: "root"))
        #expect(play.states.filter { $0 == .ended }.count == 300)
    }

    /// A reload in the middle of an answer finds it with all of its readers.
    @Test func aReloadEndsWhatIsUnfinished() throws {
        let plan = try Self.plan(300)
        let play = try Self.started(plan)
        var machine = play.machine
        _ = try handle(&machine, "app", #"{"state":"ended"}"#, at: play.now)
        _ = machine.handle(.reconfigured(plan), at: play.now)
        #expect(!machine.isOffering("app"))
        while machine.hasUnfinishedWork { _ = machine.handle(.woke, at: play.now) }
        #expect(
            machine.overview(at: play.now).services.map(\.state).filter { $0 == .ended }.count
                == 300)
    }
}
