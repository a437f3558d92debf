import CivilTime
import Decision
import Support
import Testing

/// The number of people who have to sign, where time moves the gate: stale flags, windows and versions to come.
@Suite struct SignaturesOverTimeTests {
    private static func policy(_ whenStale: Gate) -> Policy {
        var policy = Policy.twoSignatures
        policy.whenStale = whenStale == .open ? .open : .closed
        return policy
    }

    private func signed(_ policy: Policy = .twoSignatures) throws -> Transcript {
        try Transcript.signed(try service(format: .switchObject(.whole), policy: policy))
    }

    /// A document that becomes stale at once would move the gate by `when_stale`.
    @Test(arguments: [(Orders.open, Gate.closed), (Orders.closed, .open)])
    func aNearEndOfFreshnessIsAnOrder(flags: String, whenStale: Gate) throws {
        var play = try signed(Self.policy(whenStale))
        try play.accept(1, flags, version: 1, by: ["alice", "bob"])
        let states = play.states
        let hasty = flags + #","expires":"2027-03-01T12:01:00Z""#
        try play.accept(2, hasty, version: 2, by: ["alice"], expires: nil)
        #expect(try play.reason("shop") == .awaitingSignature)
        #expect(play.states(hangingUntil: 120) == states)
        // A successor that is fresh for longer is none.
        try play.accept(121, flags, version: 3, by: ["alice"], expires: "2027-03-03T00:00:00Z")
        #expect(try play.reason("shop") == .flags)
    }

    /// While the flags in force are stale, `when_stale` has the gate. An order of one person must not stay
    /// when that ends.
    @Test(arguments: [
        (Orders.closed, Orders.open, Gate.open), (Orders.open, Orders.closed, .closed),
        (Orders.open, Orders.open, .closed),
    ])
    func anOrderWhileFlagsAreStaleNeedsItsSignatures(
        flags: String, lone: String, whenStale: Gate
    ) throws {
        var play = try signed(Self.policy(whenStale))
        try play.accept(
            1, flags, version: 1, by: ["alice", "bob"], expires: "2027-03-01T12:10:00Z")
        play.hang(until: 601)
        let gate = try play.gate("shop")
        #expect(gate == whenStale)
        try play.accept(601, lone, version: 2, by: ["alice"])
        #expect(try play.gate("shop") == gate)
        let newest = play.machine.answers(of: "app").first
        #expect(newest?.signed?.order.version == 1)
        try play.accept(602, lone, version: 2, by: ["alice", "bob"])
        #expect(try play.reason("shop") == .flags)
    }

    /// A reboot excuses stale flags until their source answers. One person must not use that.
    @Test(arguments: [(Orders.open, Gate.closed), (Orders.closed, .open)])
    func aRebootTakesBackNothingThatStaleFlagsHadMoved(flags: String, whenStale: Gate) throws {
        let plan = try Plan.shopAndBank(Self.policy(whenStale))
        var play = try Transcript.started(plan)
        let end = "2027-03-01T12:05:00Z"
        try play.accept(1, flags, version: 1, by: ["alice", "bob"], expires: end)
        play.hang(until: 300)
        play.at(300, .woke)
        #expect(try play.gate("bank") == whenStale)
        var next = try play.restarted(plan, isReboot: true, isWaiting: true)
        try next.accept(1, flags, version: 2, by: ["alice"])
        next.hang(until: 31)
        next.at(31, .startupWaitEnded)
        #expect(try next.gate("bank") == whenStale)
        try next.accept(61, flags, version: 2, by: ["alice", "bob"])
        #expect(try next.reason("bank") == .flags)
    }

    /// A host that was off while its flags became stale takes the renewal of one person as others did in time.
    @Test func aRenewalThatCameWhileTheHostWasOffCounts() throws {
        let plan = try Plan.shopAndBank(Self.policy(.closed))
        var play = try Transcript.started(plan)
        let end = "2027-03-01T12:05:00Z"
        try play.accept(1, Orders.open, version: 1, by: ["alice", "bob"], expires: end)
        var next = try play.restarted(plan, isReboot: true, isWaiting: true)
        try next.accept(1, Orders.open, version: 2, by: ["alice"])
        #expect(try next.reason("bank") == .flags)
        #expect(next.states == [.running, .running])
    }

    /// A server whose clock is far ahead says that a window is over which has not begun.
    @Test func theClockOfAServerHidesNoWindow() throws {
        var play = try signed()
        let later = try Instant(rfc3339: "2037-03-01T12:00:00Z")
        let far = "2047-03-01T12:00:00Z"
        try play.accept(1, Orders.open, version: 1, by: ["alice", "bob"], expires: far)
        let window =
            Orders.open
            + #","windows":[{"from":"2027-03-01T13:00:00Z","until":"2027-03-01T14:00:00Z"}]"#
        let event = try signedOrder(window, version: 2, by: ["alice"], expires: far)
        guard case .fetchEnded(let name, let outcome, _, _) = event else { return }
        for second in 2...5 {
            try play.accept(Double(second), .fetchEnded(name, outcome, date: later))
        }
        #expect(play.machine.answers(of: name).first?.signed?.order.version == 1)
    }

    /// As many windows as flags may hold are compared; an order with more is none.
    @Test func aCalendarOfManyWindowsIsCompared() throws {
        var play = try signed()
        try play.accept(1, Orders.open, version: 1, by: ["alice", "bob"])
        let window = #"{"from":"2027-03-01T11:00:00Z","until":"2027-03-01T11:30:00Z"}"#
        for (count, reason) in [(64, Reason.Slug.flags), (65, .invalidAnswer)] {
            let windows = Array(repeating: window, count: count).joined(separator: ",")
            let flags = Orders.open + #","windows":[\#(windows)]"#
            try play.accept(2, flags, version: Int64(count), by: ["alice"])
            #expect(try play.reason("shop") == reason)
        }
    }
}
