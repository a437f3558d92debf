import CivilTime
import Control
import Decision
import JSON
import Testing

/// Every method, on a real machine and without a socket.
@Suite struct DispatcherTests {
    private let daemon: StandIn
    private let dispatcher: Dispatcher
    private static let root = Peer(user: 0, groups: [0])
    private static let anybody = Peer(user: 1000, groups: [1000])

    init() throws { try self.init(activation: .immediate) }

    private init(activation: Activation) throws {
        self.init(daemon: try StandIn(activation: activation))
    }

    private init(daemon: StandIn) {
        self.daemon = daemon
        dispatcher = Dispatcher(
            daemon, version: "9.9", permission: { Permission(ownUser: 500, group: 987) },
            author: { "user \($0.user)" })
    }

    private func perform(
        _ method: String, _ parameters: JSON.Object = [:], by peer: Peer = root,
        replies: Call.Replies = .one
    ) throws(MethodError) -> Response {
        try dispatcher.perform(
            Call(
                interface: "io.killswitchd", method: method, parameters: parameters,
                replies: replies), by: peer)
    }

    /// The one answer, once what was ordered is taken in; nil while it waits.
    private func answer(_ response: Response) throws -> JSON.Object? {
        switch response {
        case .now(let object):
            return object
        case .later(let advance):
            var last: JSON.Object?
            try daemon.settle { occasion in
                if case .done(let object) = try advance(occasion) { last = last ?? object }
            }
            return last
        }
    }

    private func call(
        _ method: String, _ parameters: JSON.Object = [:]
    ) throws -> JSON.Object {
        try #require(try answer(perform(method, parameters)))
    }

    private func decide(inactive: Bool = false) throws {
        try daemon.answer(inactive: inactive)
        daemon.settle { _ in }
    }

    private func states(_ answer: JSON.Object?) -> [String] {
        (answer?["services"]?.array ?? []).compactMap { $0.object?["state"]?.string }
    }

    private static let maintenance: JSON.Object = [
        "service": "shop", "state": "maintenance", "reason": "disk", "seconds": 60,
    ]

    @Test(arguments: [
        "Force", "Release", "Refresh", "Activate", "Reload", "Forget", "Confirm",
    ]) func actingIsForThoseWhoMay(_ method: String) throws {
        #expect(throws: MethodError.notPermitted(method)) {
            try perform(method, by: Self.anybody)
        }
    }

    @Test(arguments: ["Status", "Watch"]) func readingIsForEverybody(_ method: String) throws {
        try decide()
        guard case .now(let answer) = try perform(method, by: Self.anybody) else {
            Issue.record("it waits")
            return
        }
        #expect(states(answer) == ["running"])
    }

    @Test func everyMethodIsOneOfTheTwoKindsThatAreTestedAbove() {
        #expect(
            Interface.methods.map { "\($0.name) \($0.access)" } == [
                "Status reading", "Watch reading", "Sources reading", "Force acting",
                "Release acting",
                "Refresh acting", "Activate acting", "Reload acting", "Forget acting",
                "Confirm acting",
            ])
    }

    @Test func aReadBeforeTheFirstVerdictIsHeldAndAnsweredAfterIt() throws {
        guard case .later(let advance) = try perform("Status") else {
            Issue.record("it was answered at once")
            return
        }
        var replies: [JSON.Object] = []
        func tell(_ occasion: Occasion) throws {
            if case .done(let answer) = try advance(occasion) { replies.append(answer) }
        }
        try daemon.settle(tell)
        #expect(replies == [])
        try daemon.answer(inactive: true)
        try daemon.settle { occasion in if replies.isEmpty { try tell(occasion) } }
        #expect(replies.map { states($0) } == [["maintenance"]])
    }

    @Test func statusTellsOfTheSourcesAndOfARefusedConfiguration() throws {
        try decide()
        daemon.refusal = "x.toml:1: no"
        let status = try call("Status", ["services": ["shop"]])
        #expect(status["refused"]?.string == "x.toml:1: no")
        let source = try #require(status["sources"]?.array?.first?.object)
        #expect(source["name"]?.string == "app" && source["age"]?.number?.int64 == 0)
    }

    @Test func anOrderIsAnsweredWithWhatFollowsFromIt() throws {
        try decide()
        let forced = try call("Force", Self.maintenance)
        let state = try #require(forced["service"]?.object)
        #expect(state["state"]?.string == "maintenance" && state["author"]?.string == "user 0")
        #expect(forced["problem"] == .null)
        let released = try call("Release", ["service": "shop"])
        #expect(released["service"]?.object?["state"]?.string == "running")
        #expect(released["wasForced"]?.bool == true)
        #expect(try call("Release", ["service": "shop"])["wasForced"]?.bool == false)
    }

    /// An order of a drill: the maintenance above, for an open gate alone.
    private static let drill: JSON.Object = {
        var order = maintenance
        order["ifOpen"] = true
        return order
    }()

    private func name(_ text: String) throws -> ServiceName { try #require(ServiceName(text)) }

    @Test func anOrderForAnOpenGateIsTakenWhereItIsOpenAndEndedByItsReason() throws {
        try decide()
        let forced = try call("Force", Self.drill)
        #expect(forced["service"]?.object?["state"]?.string == "maintenance")
        let other = try call("Release", ["service": "shop", "reason": "another"])
        #expect(other["wasForced"]?.bool == false)
        #expect(other["service"]?.object?["state"]?.string == "maintenance")
        let own = try call("Release", ["service": "shop", "reason": "disk"])
        #expect(own["wasForced"]?.bool == true)
        #expect(own["service"]?.object?["state"]?.string == "running")
    }

    @Test func anOrderForAnOpenGateIsRefusedWhereAnotherOneIsInForce() throws {
        try decide()
        _ = try call("Force", Self.maintenance)
        daemon.now = Now(wall: daemon.now.wall + .seconds(1), boot: daemon.now.boot + .seconds(1))
        let error = MethodError.alreadyForced(
            try name("shop"),
            [
                "state": "maintenance", "reason": "disk", "author": "user 0",
                "since": "2027-01-15T08:00:01+00:00", "until": "2027-01-15T08:01:01+00:00",
            ])
        #expect(throws: error) { try call("Force", Self.drill) }
    }

    @Test func anOrderForAnOpenGateIsRefusedWhereItIsClosedOrNobodyKnows() throws {
        #expect(throws: MethodError.gateNotOpen(try name("shop"), .undecided)) {
            try call("Force", Self.drill)
        }
        try decide(inactive: true)
        #expect(throws: MethodError.gateNotOpen(try name("shop"), .maintenance)) {
            try call("Force", Self.drill)
        }
    }

    @Test func anOrderForAnOpenGateIsRefusedWhereTheHostGuardHoldsIt() throws {
        let tests = try DispatcherTests(daemon: StandIn(closeAtOnce: 0))
        try tests.decide()
        try tests.decide(inactive: true)
        #expect(throws: MethodError.closingHeld(try name("shop"))) {
            try tests.call("Force", Self.drill)
        }
    }

    @Test func anOrderForAnOpenGateIsRefusedWhereItClosesNothing() throws {
        try decide()
        var order = Self.drill
        order["state"] = "countdown"
        #expect(throws: MethodError.invalidParameter("state")) { try perform("Force", order) }
        daemon.movesGates = false
        #expect(throws: MethodError.gatesNotMoved(try name("shop"))) {
            try perform("Force", Self.drill)
        }
    }

    /// Two drills at once: the look and the order are one step, so the second is refused though both
    /// were posted while the gate was open.
    @Test func ofTwoOrdersForAnOpenGateOneIsTaken() throws {
        try decide()
        guard case .later(let first) = try perform("Force", Self.drill) else {
            Issue.record("an order was answered before it was taken in")
            return
        }
        daemon.now = Now(wall: daemon.now.wall + .seconds(1), boot: daemon.now.boot + .seconds(1))
        guard case .later(let second) = try perform("Force", Self.drill) else {
            Issue.record("an order was answered before it was taken in")
            return
        }
        var answers: [String] = []
        daemon.settle { occasion in
            for (name, advance) in [("first", first), ("second", second)] {
                do throws(MethodError) {
                    if case .done = try advance(occasion) { answers.append("\(name) taken") }
                } catch {
                    answers.append("\(name) \(error.name)")
                }
            }
        }
        #expect(answers == ["second io.killswitchd.AlreadyForced", "first taken"])
    }

    @Test func anOrderCountsBeforeTheFirstVerdict() throws {
        let forced = try call("Force", Self.maintenance)
        #expect(forced["service"]?.object?["state"]?.string == "maintenance")
    }

    @Test func ofTwoOrdersAtOnceEachIsAnsweredByItselfAndTheLaterCounts() throws {
        try decide()
        var ended = Self.maintenance
        ended["state"] = "ended"
        guard case .later(let first) = try perform("Force", Self.maintenance),
            case .later(let second) = try perform("Force", ended)
        else {
            Issue.record("an order was answered before it was taken in")
            return
        }
        var answers: [String] = []
        try daemon.settle { occasion in
            for advance in [first, second] {
                guard case .done(let answer) = try advance(occasion) else { continue }
                answers.append(answer["service"]?.object?["state"]?.string ?? "")
            }
        }
        #expect(answers == ["maintenance", "ended"])
        #expect(states(try call("Status")) == ["ended"])
    }

    @Test func anOrderThatCannotBeStoredCountsAndSaysSo() throws {
        try decide()
        daemon.keepProblem = "disk full"
        let forced = try call("Force", Self.maintenance)
        #expect(forced["problem"]?.string == "disk full")
        #expect(forced["service"]?.object?["state"]?.string == "maintenance")
    }

    struct WrongOrder: Sendable, CustomTestStringConvertible {
        let name: String
        var change: JSON.Object
        let error: MethodError
        var testDescription: String { name }
    }

    static let wrongOrders = [
        WrongOrder(
            name: "another service", change: ["service": "shpo"],
            error: .noSuchService("shpo", known: [ServiceName("shop")].compactMap(\.self))),
        WrongOrder(
            name: "no service", change: ["service": .null], error: .invalidParameter("service")),
        WrongOrder(
            name: "no such state", change: ["state": "shut"], error: .invalidParameter("state")),
        WrongOrder(
            name: "a state that is none", change: ["state": "undecided"],
            error: .invalidParameter("state")),
        WrongOrder(
            name: "a number as the state", change: ["state": 5], error: .invalidParameter("state")),
        WrongOrder(name: "no reason", change: ["reason": " "], error: .invalidParameter("reason")),
        WrongOrder(
            name: "a novel as the reason",
            change: ["reason": .string(String(repeating: "x", count: 5000))],
            error: .invalidParameter("reason")),
        WrongOrder(
            name: "no time at all", change: ["seconds": 0], error: .invalidParameter("seconds")),
        WrongOrder(
            name: "for longer than any calendar", change: ["seconds": 9_000_000_000_000_000_000],
            error: .invalidParameter("seconds")),
        WrongOrder(
            name: "a time twice", change: ["until": "2099-01-01T00:00:00Z"],
            error: .invalidParameter("seconds")),
        WrongOrder(
            name: "until then", change: ["seconds": .null, "until": "tomorrow"],
            error: .invalidParameter("until")),
        WrongOrder(
            name: "without an end", change: ["seconds": .null], error: .invalidParameter("until")),
        WrongOrder(
            name: "until a time that is past",
            change: ["seconds": .null, "until": "2001-01-01T00:00:00Z"],
            error: .notInTheFuture("2001-01-01T00:00:00Z")),
        WrongOrder(
            name: "half a yes", change: ["ifOpen": "yes"], error: .invalidParameter("ifOpen")),
        WrongOrder(
            name: "a parameter that is none", change: ["sate": "ended"],
            error: .invalidParameter("sate")),
    ]

    @Test(arguments: wrongOrders) func anOrderThatIsWrongIsRefusedWhole(_ wrong: WrongOrder) throws
    {
        try decide()
        var order = Self.maintenance
        for (key, value) in wrong.change { order[key] = value }
        #expect(throws: wrong.error) { try perform("Force", order) }
        #expect(states(try call("Status")) == ["running"])
    }

    @Test func aRefreshWaitsForAFetchThatBeganAfterIt() throws {
        // The first fetch of all is under way: its answer may be older than the question.
        guard case .later(let advance) = try perform("Refresh", ["source": "app"]) else {
            Issue.record("it was answered at once")
            return
        }
        var answer: JSON.Object?
        func tell(_ occasion: Occasion) throws {
            if case .done(let object) = try advance(occasion) { answer = answer ?? object }
        }
        try daemon.settle(tell)
        try daemon.answer(inactive: false)
        try daemon.settle(tell)
        #expect(answer == nil)
        try daemon.answer(inactive: true)
        try daemon.settle(tell)
        let fetched = try #require(answer?["fetched"]?.array?.first?.object)
        #expect(fetched["outcome"]?.string == "changed")
        #expect(states(answer) == ["maintenance"])
    }

    @Test func aRefreshTellsHowTheFetchFailed() throws {
        try decide()
        guard case .later(let advance) = try perform("Refresh") else {
            Issue.record("it was answered at once")
            return
        }
        try daemon.settle { _ = try advance($0) }
        let app = try #require(SourceName("app"))
        daemon.post(.fetched(app, .failure(Decision.Failure(.unreachable, "no route"))))
        var answer: JSON.Object?
        try daemon.settle { occasion in
            if case .done(let object) = try advance(occasion) { answer = object }
        }
        let fetched = try #require(answer?["fetched"]?.array?.first?.object)
        #expect(fetched["outcome"]?.string == "failed")
        #expect(fetched["problem"]?.string == "no route")
    }

    @Test func confirmLetsCloseWhatWasHeldAndSaysWhat() throws {
        let tests = try DispatcherTests(daemon: StandIn(closeAtOnce: 0))
        try tests.decide()
        #expect(try tests.call("Confirm")["confirmed"] == [])
        try tests.decide(inactive: true)
        #expect(try tests.states(tests.answer(tests.perform("Status"))) == ["running"])
        let confirmed = try tests.call("Confirm", ["services": ["shop"]])
        #expect(confirmed["confirmed"] == ["shop"])
        #expect(tests.states(confirmed) == ["maintenance"])
        #expect(throws: MethodError.noSuchService("shpo", known: [tests.daemon.services[0].name])) {
            try tests.perform("Confirm", ["services": ["shpo"]])
        }
    }

    @Test func activateSaysWhichServicesHadFlagsWaiting() throws {
        let tests = try DispatcherTests(activation: .nextStart)
        try tests.decide()
        #expect(try tests.call("Activate")["activated"] == [])
        try tests.decide(inactive: true)
        #expect(tests.states(try tests.call("Status")) == ["running"])
        let activated = try tests.call("Activate", ["service": "shop"])
        #expect(activated["activated"] == ["shop"])
        #expect(tests.states(activated) == ["maintenance"])
    }

    @Test func forgetDropsWhatIsStoredAndMovesNothing() throws {
        try decide()
        #expect(try call("Forget", ["source": "app"])["services"] == ["shop"])
        let app = try #require(SourceName("app"))
        #expect(daemon.effects.contains(.store(app, [])))
        #expect(
            daemon.effects.last { if case .fetch = $0 { true } else { false } }
                == .fetch(app, Validators()))
        #expect(states(try call("Status")) == ["running"])
    }

    @Test func aReloadIsAnsweredWithWhatThereIsNow() throws {
        let answer = try call("Reload")
        #expect(answer == ["services": ["shop"], "sources": ["app"]])
        daemon.next = .failure(.configurationRefused("x.toml:1: no"))
        #expect(throws: MethodError.configurationRefused("x.toml:1: no")) { try perform("Reload") }
    }

    @Test func aWatchTellsWhatIsSoAndThenEachChange() throws {
        try decide()
        guard case .later(let advance) = try perform("Watch", replies: .many) else {
            Issue.record("a stream was answered at once")
            return
        }
        var told: [[String]] = []
        func tell(_ occasion: Occasion) throws {
            if case .more(let answer) = try advance(occasion) { told.append(states(answer)) }
        }
        try tell(.room)
        try daemon.answer(inactive: false)
        try daemon.settle(tell)
        try daemon.answer(inactive: true)
        try daemon.settle(tell)
        daemon.next = .success(Plan(sources: [], services: []))
        try daemon.reload()
        try daemon.settle(tell)
        #expect(told == [["running"], ["maintenance"], []])
    }

    @Test func whatIsNotThereIsSaidToBeSo() throws {
        #expect(throws: MethodError.methodNotFound("Shut")) { try perform("Shut") }
        #expect(throws: MethodError.interfaceNotFound("io.other")) {
            try dispatcher.perform(Call(interface: "io.other", method: "X"), by: Self.root)
        }
        #expect(throws: MethodError.self) { try perform("Status", ["services": ["shpo"]]) }
        #expect(throws: MethodError.invalidParameter("services")) {
            try perform("Status", ["services": "shop"])
        }
    }

    @Test func theServiceDescribesItself() throws {
        let ask = { (method: String, parameters: JSON.Object) throws -> JSON.Object? in
            let call = Call(
                interface: "org.varlink.service", method: method, parameters: parameters)
            guard case .now(let answer) = try dispatcher.perform(call, by: Self.anybody) else {
                return nil
            }
            return answer
        }
        let info = try #require(try ask("GetInfo", [:]))
        #expect(info["interfaces"] == ["org.varlink.service", "io.killswitchd"])
        #expect(info["version"]?.string == "9.9")
        let text = try #require(
            try ask("GetInterfaceDescription", ["interface": "io.killswitchd"])?["description"]?
                .string)
        for method in Interface.methods { #expect(text.contains("\nmethod \(method.name)(")) }
        for error in MethodError.Kind.allCases {
            #expect(text.contains("\nerror \(error.rawValue.dropFirst("io.killswitchd.".count)) ("))
        }
        #expect(throws: MethodError.interfaceNotFound("io.other")) {
            _ = try ask("GetInterfaceDescription", ["interface": "io.other"])
        }
    }
}
