import CivilTime
import Decision
import Testing

/// Signed documents whose versions jump or whose signers change.
@Suite struct ChangedSignersTests {
    /// One person must not end all orders by the last version of all.
    @Test func aVersionJumpNeedsEachSignature() throws {
        var play = try Transcript.signed(
            try service(format: .switchObject(.whole), policy: .twoSignatures))
        try play.accept(1, try signedOrder(Orders.open, version: 1, by: ["alice", "bob"]))
        try play.accept(2, try signedOrder(Orders.open, version: .max, by: ["alice"]))
        #expect(
            play.text.contains(
                "source 'app' raises the version too far for one signer; signed by 'alice'; "
                    + "one more signature is needed; the flags in force are "
                    + "signed by 'alice', 'bob'"), "\(play.text)")
        try play.accept(3, try signedOrder(Orders.closed, version: 2, by: ["alice", "bob"]))
        #expect(play.states == [.maintenance])
        try play.accept(4, try signedOrder(Orders.open, version: .max, by: ["alice", "bob"]))
        #expect(play.states == [.running])
    }

    /// Who is removed from the list does not count for a service that has not accepted the order yet.
    @Test func aSignerWhoWasRemovedDoesNotConfirm() throws {
        var policy = Policy.twoSignatures
        policy.confirmClose = 3
        var play = try Transcript.started(try Plan.shopAndBank(policy))
        try play.accept(1, try signedOrder(Orders.open, version: 1, by: ["alice", "bob"]))
        try play.accept(2, try signedOrder(Orders.closed, version: 2, by: ["alice", "mallory"]))
        #expect(play.states == [.maintenance, .running])
        for second in 3...6 {
            try play.accept(
                Double(second), try signedOrder(Orders.closed, version: 2, by: ["alice"]))
        }
        #expect(play.states == [.maintenance, .running])
        #expect(try play.reason("bank") == .awaitingSignature)
    }

    /// A document that nobody can read must not use up the versions.
    @Test func aDocumentThatNobodyCanReadRaisesNoVersion() throws {
        var play = try Transcript.started(try Plan.shopAndBank())
        try play.accept(1, try signedOrder(Orders.open, version: 1, by: ["alice", "bob"]))
        try play.accept(
            2, try signedOrder(#"{"state":"shut""#, version: .max, by: ["alice", "bob"]))
        try play.accept(3, try signedOrder(Orders.closed, version: 2, by: ["alice", "bob"]))
        #expect(play.states == [.maintenance, .maintenance])
    }

    /// Who serves a document can leave signatures out. The authors stay those who signed.
    @Test func fewerSignaturesOfTheSameDocumentAreNoNews() throws {
        var play = try Transcript.started(try Plan.shopAndBank())
        try play.accept(1, try signedOrder(Orders.closed, version: 1, by: ["alice", "bob"]))
        let effects = try play.accept(60, try signedOrder(Orders.closed, version: 1, by: ["bob"]))
        for case .storeFlags in effects { Issue.record("stored again") }
        let record = play.machine.publishedVerdict(of: try named("bank"))
        #expect(record?.verdict.authors == ["alice", "bob"])
        #expect(play.states == [.maintenance, .maintenance])
    }

    /// A key is lost: its signer signs the same document with another one.
    @Test func theSameDocumentSignedAnewIsProved() throws {
        var play = try Transcript.started(try Plan.shopAndBank())
        let before = try signedOrder(
            Orders.closed, version: 1, by: ["alice", "bob"], signatures: "1")
        try play.accept(1, before)
        let lost = try #require(play.machine.answers(of: try named("app")).first?.signed)
        play.at(2, .disproved(try named("app"), [lost.identity: "no signer has the key"]))
        #expect(try play.reason("bank") == .unprovedHold)
        #expect(play.at(70, .woke).contains(.fetch(try named("app"), Validators())))
        try play.accept(
            71, try signedOrder(Orders.closed, version: 1, by: ["alice", "bob"], signatures: "2"))
        #expect(try play.reason("bank") == .flags)
    }

    /// An order to forget comes while the version of a document is being stored.
    @Test func forgetWhileAVersionIsStoredFetchesAgain() throws {
        var play = try Transcript.started(try Plan.shopAndBank())
        play.at(1, try signedOrder(Orders.closed, version: 1, by: ["alice", "bob"]))
        let effects = play.at(1, .forget(try named("app"), by: "alice"))
        #expect(effects.contains(.fetch(try named("app"), Validators())))
        play.at(1, .writeEnded(.storeVersion(try named("app")), problem: nil))
        try play.accept(2, try signedOrder(Orders.closed, version: 2, by: ["alice", "bob"]))
        #expect(play.states == [.maintenance, .maintenance])
    }
}
