import CivilTime
import Decision
import Support
import Testing

/// The number of people who have to sign, over restarts and reloads.
@Suite struct SignaturesOverRestartsTests {
    /// What one person has signed is stored, because another service follows it.
    @Test(arguments: [
        (Orders.open, Orders.closed, State.running), (Orders.closed, Orders.open, .maintenance),
    ])
    func aRestartAcceptsNoOrderThatLacksASignature(
        before: String, lone: String, state: State
    ) throws {
        let plan = try Plan.shopAndBank()
        var play = try Transcript.started(plan)
        try play.accept(1, before, version: 1, by: ["alice", "bob"])
        try play.accept(2, lone, version: 2, by: ["alice"])
        let states = play.states
        #expect(states[0] != states[1])
        #expect(states[1] == state)
        var next = try play.restarted(plan)
        #expect(next.states == states)
        #expect(try next.reason("bank") == .storedFlags)
        try next.accept(1, lone, version: 2, by: ["alice"])
        #expect(next.states == states)
        #expect(try next.reason("bank") == .awaitingSignature)
        try next.accept(2, lone, version: 2, by: ["alice", "bob"])
        #expect(next.states == [states[0], states[0]])
    }

    /// One person may sign a document that moves nothing. A restart does not ask for more.
    @Test func aRestartRestsOnWhatWasAccepted() throws {
        let plan = try Plan.shopAndBank()
        var play = try Transcript.started(plan)
        try play.accept(1, Orders.closed, version: 1, by: ["alice", "bob"])
        try play.accept(2, Orders.closed + #","title":"soon""#, version: 2, by: ["alice"])
        #expect(play.machine.answers(of: "app").count == 1)
        let next = try play.restarted(plan)
        #expect(next.states == [.maintenance, .maintenance])
        #expect(try next.reason("bank") == .storedFlags)
    }

    /// A service that is new after a restart, or by a reload, accepts what it would accept from the source.
    @Test(arguments: [true, false])
    func aNewServiceAcceptsNoLoneOrderThatIsKnown(isReload: Bool) throws {
        let all = try Plan.shopAndBank()
        var few = all
        few.services = [few.services[0]]
        var play = try Transcript.started(few)
        try play.accept(1, Orders.closed, version: 1, by: ["alice"])
        #expect(play.states == [.maintenance])
        if isReload {
            play.at(2, .reconfigured(all))
            play.at(40, .woke)
        } else {
            play = try play.restarted(all)
        }
        #expect(play.states == [.maintenance, .running])
        #expect(try play.reason("bank") == .unknownOpen)
        try play.accept(41, Orders.closed, version: 1, by: ["alice"])
        #expect(play.states == [.maintenance, .running])
        #expect(try play.reason("bank") == .awaitingSignature)
    }

    /// A reload stores what a service rests on: a restart after it asks for no more signatures.
    @Test func aServiceThatAReloadAddsKeepsItsFlagsOverARestart() throws {
        let all = try Plan.shopAndBank(Policy(whenUnknown: .closed, signaturesToOpen: 2))
        var few = all
        few.services = [few.services[0]]
        var play = try Transcript.started(few)
        try play.accept(1, Orders.open, version: 1, by: ["alice", "bob"])
        play.at(2, .reconfigured(all))
        try play.accept(2, Orders.open, version: 1, by: ["alice", "bob"])
        try play.accept(3, Orders.open + #","title":"soon""#, version: 2, by: ["alice"])
        #expect(play.states == [.running, .running])
        #expect(try play.restarted(all).states == [.running, .running])
    }

    /// A service with two switches on one source: each rests on an answer of its own.
    @Test func eachSwitchRestsOnItsOwnAnswer() throws {
        var plan = try Plan.shopAndBank()
        plan.services[1].switches = [
            Switch(source: "app", format: .switchObject(.member("a"))),
            Switch(source: "app", format: .switchObject(.member("b"))),
        ]
        let flags = { (a: String, b: String, more: String) in
            Orders.open + #","a":{"state":"\#(a)"},"b":{"state":"\#(b)"}\#(more)"#
        }
        var play = try Transcript.started(plan)
        let two = ["alice", "bob"]
        try play.accept(1, flags("running", "running", ""), version: 1, by: two)
        try play.accept(2, flags("maintenance", "shut", ""), version: 2, by: two)
        let lone = flags("maintenance", "shut", #","title":"soon""#)
        try play.accept(3, lone, version: 3, by: ["alice"])
        #expect(play.states == [.running, .maintenance])
        #expect(try play.restarted(plan).states == [.running, .maintenance])
    }

    /// One person must not take back a staged order of two, though nothing of it is in force yet.
    @Test func oneSignatureDoesNotTakeAStagedOrderBack() throws {
        let plan = try Plan.shopAndBank(activation: .nextStart)
        var play = try Transcript.started(plan)
        try play.accept(1, Orders.open, version: 1, by: ["alice", "bob"])
        try play.accept(2, Orders.closed, version: 2, by: ["alice", "bob"])
        #expect(play.states == [.maintenance, .running])
        try play.accept(3, Orders.open, version: 3, by: ["alice"])
        #expect(try play.reason("bank") == .awaitingSignature)
        #expect(play.states(at: 4, .activate(nil)) == [.running, .maintenance])
        // Nor does one who closes alone stage it.
        try play.accept(5, Orders.open, version: 4, by: ["alice", "bob"])
        play.at(6, .activate(nil))
        try play.accept(7, Orders.closed, version: 5, by: ["alice"])
        #expect(play.states == [.maintenance, .running])
        #expect(try play.restarted(plan).states == [.maintenance, .running])
    }

    @Test func unprovedStagedFlagsAreNotActivated() throws {
        let plan = try Plan.shopAndBank(activation: .nextStart)
        var play = try Transcript.started(plan)
        try play.accept(1, Orders.open, version: 1, by: ["alice", "bob"])
        try play.accept(2, Orders.closed, version: 2, by: ["alice", "bob"])
        let staged = try #require(play.machine.answers(of: "app").first?.signed)
        play.at(3, .disproved("app", [staged.identity: "no signer has the key"]))
        play.at(4, .activate(nil))
        #expect(play.states[1] == .running)
        #expect(try play.restarted(plan).states[1] == .running)
        play.at(5, .disproved("app", [:]))
        try play.accept(6, Orders.closed, version: 2, by: ["alice", "bob"])
        play.at(7, .activate(nil))
        #expect(play.states[1] == .maintenance)
    }

    /// The signer was removed while the daemon was down.
    @Test func unprovedStagedFlagsDoNotTakeForceAtAStart() throws {
        let plan = try Plan.shopAndBank(activation: .nextStart)
        var play = try Transcript.started(plan)
        try play.accept(1, Orders.open, version: 1, by: ["alice", "bob"])
        try play.accept(2, Orders.closed, version: 2, by: ["mallory", "bob"])
        let staged = try #require(play.machine.answers(of: "app").first?.signed)
        let next = try play.restarted(plan, disproved: [staged.identity: "no signer has the key"])
        #expect(next.states[1] == .running)
        #expect(try play.restarted(plan).states[1] == .maintenance)
    }
}

/// Signed documents whose versions jump or whose signers change.
@Suite struct ChangedSignersTests {
    /// Who serves a document can leave signatures out. The authors stay those who signed.
    @Test func fewerSignaturesOfTheSameDocumentAreNoNews() throws {
        var play = try Transcript.started(try Plan.shopAndBank())
        try play.accept(1, Orders.closed, version: 1, by: ["alice", "bob"])
        let effects = try play.accept(60, Orders.closed, version: 1, by: ["bob"])
        for case .storeFlags in effects { Issue.record("stored again") }
        let record = play.machine.publishedVerdict(of: "bank")
        #expect(record?.verdict.authors == ["alice", "bob"])
        #expect(play.states == [.maintenance, .maintenance])
    }

    /// A key is lost: its signer signs the same document with another one.
    @Test func theSameDocumentSignedAnewIsProved() throws {
        var play = try Transcript.started(try Plan.shopAndBank())
        let before = try signedOrder(
            Orders.closed, version: 1, by: ["alice", "bob"], signatures: "1")
        try play.accept(1, before)
        let lost = try #require(play.machine.answers(of: "app").first?.signed)
        play.at(2, .disproved("app", [lost.identity: "no signer has the key"]))
        #expect(try play.reason("bank") == .unprovedHold)
        #expect(play.at(70, .woke).contains(.fetch("app", Validators())))
        try play.accept(71, Orders.closed, version: 1, by: ["alice", "bob"], signatures: "2")
        #expect(try play.reason("bank") == .flags)
    }
}
