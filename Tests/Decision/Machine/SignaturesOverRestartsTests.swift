import CivilTime
import Decision
import Support
import Testing

/// The number of people who have to sign, over restarts and reloads.
@Suite struct SignaturesOverRestartsTests {
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
