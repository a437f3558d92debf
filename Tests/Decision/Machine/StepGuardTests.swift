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
}
