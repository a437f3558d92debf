import CivilTime
import ControlSocket
import Decision
import JSON
import Support
import Testing

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

    @Test func ofTwoOrdersAtOnceTheLaterCountsAndBothRepliesShowIt() throws {
        try asked.decide()
        var ended: JSON.Object = .maintenance
        ended["state"] = "ended"
        let first = try asked.perform("Force", .maintenance)
        let second = try asked.perform("Force", ended)
        #expect(try first.answer == nil)
        asked.daemon.settle()
        #expect(try [first.answer?.state, second.answer?.state] == ["ended", "ended"])
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
            let response = try asked.perform(method, parameters)
            asked.daemon.settle()
            #expect(try response.answer == nil)
            asked.daemon.isGateAnswered = true
            let answer = try #require(try response.answer, "\(method) is not answered")
            #expect(answer["gate"]?.object?["problem"] == "access denied")
        }
    }
}

/// Force with `ifOpen`, the order of a drill: it needs an open gate and a state that closes it.
@Suite struct ForceIfOpenTests {
    private let asked: TestDispatcher
    private let shop: ServiceName = "shop"

    init() throws { asked = try TestDispatcher() }

    private func waitASecond() {
        let now = asked.daemon.now
        asked.daemon.now = Now(wall: now.wall + .seconds(1), boot: now.boot + .seconds(1))
    }

    @Test func anOrderIsAcceptedWhileTheGateIsOpenAndReleasedByItsReason() throws {
        try asked.decide()
        #expect(try asked.call("Force", .drill).state == "maintenance")
        let other = try asked.call("Release", ["service": "shop", "reason": "another"])
        #expect(other["wasForced"]?.bool == false)
        #expect(other.state == "maintenance")
        let own = try asked.call("Release", ["service": "shop", "reason": "disk"])
        #expect(own["wasForced"]?.bool == true)
        #expect(own.state == "running")
    }

    @Test func anOrderIsRejectedWhileAnotherOneIsInForce() throws {
        try asked.decide()
        _ = try asked.call("Force", .maintenance)
        waitASecond()
        let error = MethodError.alreadyForced(
            shop,
            [
                "state": "maintenance", "reason": "disk", "author": "user 0",
                "since": "2027-01-15T08:00:01+00:00", "until": "2027-01-15T08:01:01+00:00",
            ])
        #expect(throws: error) { try asked.call("Force", .drill) }
    }

    @Test func anOrderIsRejectedWhileTheGateIsClosedOrUndecided() throws {
        #expect(throws: MethodError.gateNotOpen(shop, .undecided)) {
            try asked.call("Force", .drill)
        }
        try asked.decide(inactive: true)
        #expect(throws: MethodError.gateNotOpen(shop, .maintenance)) {
            try asked.call("Force", .drill)
        }
    }

    @Test func anOrderIsRejectedWhileTheHostGuardHoldsTheGate() throws {
        let asked = try TestDispatcher(closeAtOnce: 0)
        try asked.decide()
        try asked.decide(inactive: true)
        #expect(throws: MethodError.closingHeld(shop)) { try asked.call("Force", .drill) }
    }

    @Test func anOrderThatClosesNothingIsRejected() throws {
        try asked.decide()
        var order: JSON.Object = .drill
        order["state"] = "countdown"
        #expect(throws: MethodError.invalidParameter("state")) { try asked.perform("Force", order) }
        asked.daemon.gates = nil
        #expect(throws: MethodError.gatesNotMoved(shop)) { try asked.perform("Force", .drill) }
    }

    /// Two drills at once: the check and the order are one step, so the second order is rejected although
    /// both were posted while the gate was open.
    @Test func ofTwoOrdersAtOnceOneIsAccepted() throws {
        try asked.decide()
        let first = try asked.perform("Force", .drill)
        waitASecond()
        let second = try asked.perform("Force", .drill)
        asked.daemon.settle()
        #expect(try first.answer?.state == "maintenance")
        let error = #expect(throws: MethodError.self) { try second.answer }
        #expect(error?.name == "io.killswitchd.AlreadyForced")
    }
}

/// Calls of Force with missing, contradicting or malformed parameters.
@Suite struct WrongOrderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let change: JSON.Object
        let error: MethodError

        init(_ name: String, _ change: JSON.Object, _ error: MethodError) {
            (testDescription, self.change, self.error) = (name, change, error)
        }
    }

    static let cases = [
        Case(
            "another service", ["service": "shpo"],
            .noSuchService("shpo", known: [ServiceName("shop")].compactMap(\.self))),
        Case("no service", ["service": .null], .invalidParameter("service")),
        Case("no such state", ["state": "shut"], .invalidParameter("state")),
        Case("a state that is none", ["state": "undecided"], .invalidParameter("state")),
        Case("a number as the state", ["state": 5], .invalidParameter("state")),
        Case("no reason", ["reason": " "], .invalidParameter("reason")),
        Case(
            "a novel as the reason", ["reason": .string(String(repeating: "x", count: 5000))],
            .invalidParameter("reason")),
        Case("no time at all", ["seconds": 0], .invalidParameter("seconds")),
        Case(
            "for longer than any calendar", ["seconds": 9_000_000_000_000_000_000],
            .invalidParameter("seconds")),
        Case("a time twice", ["until": "2099-01-01T00:00:00Z"], .invalidParameter("seconds")),
        Case("until then", ["seconds": .null, "until": "tomorrow"], .invalidParameter("until")),
        Case("without an end", ["seconds": .null], .invalidParameter("until")),
        Case(
            "until a time that is past", ["seconds": .null, "until": "2001-01-01T00:00:00Z"],
            .notInTheFuture("2001-01-01T00:00:00Z")),
        Case("half a yes", ["ifOpen": "yes"], .invalidParameter("ifOpen")),
        Case("a parameter that is none", ["sate": "ended"], .invalidParameter("sate")),
    ]

    @Test(arguments: cases) func aWrongOrderIsRejectedAndPostsNothing(_ wrong: Case) throws {
        let asked = try TestDispatcher()
        try asked.decide()
        var order: JSON.Object = .maintenance
        for (key, value) in wrong.change { order[key] = value }
        #expect(throws: wrong.error) { try asked.perform("Force", order) }
        #expect(asked.state == "running")
    }
}
