import ControlSocket
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

    /// The verdict says closed at once; whether systemd moves the gate is known later.
    @Test func anOrderIsAnsweredWhenSystemdHasTakenOrRefusedTheMove() throws {
        try asked.decide()
        asked.daemon.isGateAnswered = false
        asked.daemon.gate = ["wanted": "closed", "actual": "stuck", "problem": "access denied"]
        for (method, parameters) in [
            ("Force", JSON.Object.maintenance), ("Release", ["service": "shop"]),
        ] {
            asked.daemon.isGateAnswered = false
            let advance = try #require(try asked.perform(method, parameters).advance)
            try asked.daemon.settle { trigger in
                let early = try advance(trigger)
                #expect(early == nil)
            }
            #expect(try advance(.gatesHandled) == nil)
            asked.daemon.isGateAnswered = true
            guard case .last(let answer)? = try advance(.gatesHandled) else {
                Issue.record("\(method) is not answered")
                continue
            }
            #expect(answer["gate"]?.object?["problem"] == "access denied")
        }
    }
}
