import Control
import JSON
import Testing

/// Force and Release.
@Suite struct ForceTests {
    private let asked: TestDispatcher

    init() throws { asked = try TestDispatcher() }

    @Test func anOrderIsAnsweredWithWhatFollowsFromIt() throws {
        try asked.decide()
        let forced = try asked.call("Force", .maintenance)
        #expect(forced.state == "maintenance")
        #expect(forced["service"]?.object?["author"]?.string == "user 0")
        #expect(forced["problem"] == .null)
        let released = try asked.call("Release", ["service": "shop"])
        #expect(released.state == "running")
        #expect(released["wasForced"]?.bool == true)
        #expect(try asked.call("Release", ["service": "shop"])["wasForced"]?.bool == false)
    }

    @Test func anOrderCountsBeforeTheFirstVerdict() throws {
        #expect(try asked.call("Force", .maintenance).state == "maintenance")
    }

    @Test func ofTwoOrdersAtOnceEachIsAnsweredByItselfAndTheLaterCounts() throws {
        try asked.decide()
        var ended: JSON.Object = .maintenance
        ended["state"] = "ended"
        let first = try #require(try asked.perform("Force", .maintenance).advance)
        let second = try #require(try asked.perform("Force", ended).advance)
        var answers: [String] = []
        try asked.daemon.settle { trigger in
            for advance in [first, second] {
                guard case .last(let answer) = try advance(trigger) else { continue }
                answers.append(answer.state ?? "")
            }
        }
        #expect(answers == ["maintenance", "ended"])
        #expect(try asked.call("Status").states == ["ended"])
    }

    @Test func anOrderThatCannotBeStoredCountsAndSaysSo() throws {
        try asked.decide()
        asked.daemon.keepProblem = "disk full"
        let forced = try asked.call("Force", .maintenance)
        #expect(forced["problem"]?.string == "disk full")
        #expect(forced.state == "maintenance")
    }
}
