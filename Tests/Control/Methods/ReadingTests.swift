import Control
import Decision
import JSON
import Testing

/// Status and Watch: the current states, and each change.
@Suite struct ReadingTests {
    private let asked: TestDispatcher

    init() throws { asked = try TestDispatcher() }

    @Test func aReadBeforeTheFirstVerdictIsHeldAndAnsweredAfterIt() throws {
        let advance = try #require(try asked.perform("Status").advance)
        var replies: [JSON.Object] = []
        func tell(_ trigger: ReplyTrigger) throws {
            if case .last(let answer) = try advance(trigger) { replies.append(answer) }
        }
        try asked.daemon.settle(tell)
        #expect(replies == [])
        try asked.daemon.answer(inactive: true)
        try asked.daemon.settle { trigger in if replies.isEmpty { try tell(trigger) } }
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

    @Test func statusOfAServiceThatIsNotThereIsRefused() throws {
        let known = asked.daemon.services.map(\.name)
        #expect(throws: MethodError.noSuchService("shpo", known: known)) {
            try asked.perform("Status", ["services": ["shpo"]])
        }
        #expect(throws: MethodError.invalidParameter("services")) {
            try asked.perform("Status", ["services": "shop"])
        }
    }

    @Test func aWatchSendsTheCurrentStatesAndThenEachChange() throws {
        try asked.decide()
        let advance = try #require(try asked.perform("Watch", replies: .many).advance)
        var told: [[String]] = []
        func tell(_ trigger: ReplyTrigger) throws {
            if case .more(let answer) = try advance(trigger) { told.append(answer.states) }
        }
        try tell(.writable)
        try asked.daemon.answer(inactive: false)
        try asked.daemon.settle(tell)
        try asked.daemon.answer(inactive: true)
        try asked.daemon.settle(tell)
        asked.daemon.next = .success(Plan(sources: [], services: []))
        try asked.daemon.reload()
        try asked.daemon.settle(tell)
        #expect(told == [["running"], ["maintenance"], []])
    }
}
