import CivilTime
import ControlSocket
import Decision
import JSON
import Support
import Testing

/// Status and Watch: the current states, and each change.
@Suite struct ReadingTests {
    private let asked: TestDispatcher

    init() throws { asked = try TestDispatcher() }

    @Test func aReadBeforeTheFirstVerdictIsHeldAndAnsweredAfterIt() throws {
        let advance = try #require(try asked.perform("Status").advance)
        var replies: [JSON.Object] = []
        func post(_ trigger: ReplyTrigger) throws {
            if case .last(let answer) = try advance(trigger) { replies.append(answer) }
        }
        try asked.daemon.settle(post)
        #expect(replies == [])
        try asked.daemon.answer(inactive: true)
        try asked.daemon.settle { trigger in if replies.isEmpty { try post(trigger) } }
        #expect(replies.map(\.states) == [["maintenance"]])
    }

    @Test func statusTellsOfTheSourcesAndOfARefusedConfiguration() throws {
        try asked.decide()
        asked.daemon.refusal = "x.toml:1: no"
        let status = try asked.call("Status", ["services": ["shop"]])
        #expect(status["refused"]?.string == "x.toml:1: no")
        let source = try #require(status["sources"]?.array?.first?.object)
        #expect(source["name"]?.string == "app" && source["age"]?.number?.int64 == 0)
    }

    /// One name 16,000 times was a reply of ten megabytes.
    @Test func aServiceThatIsNamedOftenIsAnsweredOnce() throws {
        try asked.decide()
        let names = JSON.Value.array(Array(repeating: "shop", count: 16_000))
        #expect(try asked.call("Status", ["services": names]).states == ["running"])
        let advance = try #require(
            try asked.perform("Watch", ["services": names], replies: .many).advance)
        guard case .more(let answer) = try advance(.writable) else {
            Issue.record("no reply")
            return
        }
        #expect(answer.states == ["running"])
    }

    @Test func anUnknownServiceAmongManyNamesIsRefused() throws {
        let known = asked.daemon.services.map(\.name)
        for name in ["shpo", "", "Shop", "shop\u{0}", String(repeating: "x", count: 9999)] {
            #expect(throws: MethodError.noSuchService(name, known: known)) {
                try asked.perform("Watch", ["services": ["shop", .string(name)]], replies: .many)
            }
        }
    }

    @Test func theProcessSaysHowManyDescriptorsItHas() throws {
        let sources = try asked.call("Sources")
        #expect(sources["process"] == ["descriptors": 23, "descriptor_limit": 1024])
        asked.daemon.descriptors.used = nil
        #expect(try asked.call("Sources")["process"]?.object?["descriptors"] == .null)
    }

    /// A client that does not read keeps the names of what is new to it: they are few, however much changes.
    @Test func aWatchTellsOfManyServicesInSeveralReplies() throws {
        let services = (0..<600).map { number in
            Service(
                name: "s\(number)", zone: .utc,
                switches: [Switch(source: "app", format: .status(.whole))],
                policy: Policy(minClosed: .zero))
        }
        let sources = [SourcePlan(name: "app", interval: .seconds(60))]
        asked.daemon.next = .success(Plan(sources: sources, services: services))
        _ = try asked.daemon.reload()
        asked.daemon.settle { _ in }
        try asked.decide()
        let advance = try #require(try asked.perform("Watch", replies: .many).advance)
        var reported: [JSON.Object] = []
        func postAll() throws {
            while case .more(let answer) = try advance(.writable) { reported.append(answer) }
        }
        try postAll()
        try asked.decide(inactive: true)
        try postAll()
        #expect(reported.map(\.states.count) == [600, 256, 256, 88])
        #expect(Set(reported.dropFirst().flatMap(\.states)) == ["maintenance"])
        asked.daemon.next = .success(Plan(sources: sources, services: Array(services.prefix(1))))
        _ = try asked.daemon.reload()
        asked.daemon.settle { _ in }
        reported = []
        try postAll()
        #expect(reported.map { $0["gone"]?.array?.count } == [256, 256, 87])
        #expect(Set(reported.flatMap { $0["gone"]?.array ?? [] }).count == 599)
    }

    @Test func statusOfAServiceThatIsNotThereIsRefused() throws {
        let known = asked.daemon.services.map(\.name)
        #expect(throws: MethodError.noSuchService("shpo", known: known)) {
            try asked.perform("Status", ["services": ["shpo"]])
        }
        #expect(throws: MethodError.invalidParameter("services")) {
            try asked.perform("Status", ["services": "shop"])
        }
    }

    /// One state and silence looked like a stream in which nothing happens.
    @Test func aWatchWithoutMoreIsRefused() {
        #expect(throws: MethodError.expectedMore) { try asked.perform("Watch") }
        #expect(throws: MethodError.expectedMore) { try asked.perform("Watch", replies: .none) }
    }

    /// Another protocol was asked for, and the connection was closed without a word.
    @Test func noMethodTakesPartInAnUpgrade() {
        for (interface, method) in [
            ("io.killswitchd", "Status"), ("org.varlink.service", "GetInfo"),
        ] {
            #expect(throws: MethodError.methodNotImplemented(method)) {
                try asked.perform(
                    MethodCall(interface: interface, method: method, isUpgrade: true),
                    by: TestDispatcher.root)
            }
        }
    }

    @Test func aWatchSendsTheCurrentStatesAndThenEachChange() throws {
        try asked.decide()
        let advance = try #require(try asked.perform("Watch", replies: .many).advance)
        var reported: [[String]] = []
        func post(_ trigger: ReplyTrigger) throws {
            if case .more(let answer) = try advance(trigger) { reported.append(answer.states) }
        }
        try post(.writable)
        try asked.daemon.answer(inactive: false)
        try asked.daemon.settle(post)
        try asked.daemon.answer(inactive: true)
        try asked.daemon.settle(post)
        asked.daemon.next = .success(Plan(sources: [], services: []))
        _ = try asked.daemon.reload()
        try asked.daemon.settle(post)
        #expect(reported == [["running"], ["maintenance"], []])
    }
}
