import Files
import Glibc
import Support
import Testing

/// What a host knows of signed documents over restarts, and what it does where its disk does not help.
@Suite(.timeLimit(.minutes(5))) struct SignedRestartTests {
    private func ended() async throws -> Fleet {
        let fleet = try await Fleet.following(publishing: "yes")
        #expect(try fleet.daemon.member("state") == #""ended""#)
        return fleet
    }

    @Test func aRestartKnowsTheHighestVersion() async throws {
        let fleet = try await ended()
        try fleet.daemon.stop(SIGKILL)
        try fleet.publish("no", version: 7, by: fleet.alice)
        try await fleet.daemon.start(awaitingReason: "rollback", state: "ended")
        try await fleet.publish("no", version: 9, by: fleet.alice, awaiting: "running")
    }

    /// Without the stored flags too: 'forget' is not a way back.
    @Test func forgetDropsTheFlagsAndNotTheVersion() async throws {
        let fleet = try await ended()
        try await fleet.publish("no", version: 7, by: fleet.alice, awaitingReason: "rollback")
        #expect(try fleet.daemon.control("forget", "app").status == 0)
        try await fleet.daemon.awaitLine("deleted its stored flags")
        try fleet.daemon.stop()
        try await fleet.daemon.start(awaitingLine: "'rollback'")
        try fleet.daemon.control("forget", "app", "--accepted-version").expect(
            2, errors: "give --accepted-version and --reason together")
        try fleet.daemon.control(
            "forget", "app", "--accepted-version", "--reason", "a typo in the version"
        ).expect(0)
        try await fleet.daemon.awaitState("running")
        #expect(
            try !fleet.daemon.lines(
                with:
                    "the highest version of its signed documents: 'a typo in the version'; fetching them "
                    + "again"
            ).isEmpty)
    }

    /// A version that cannot be read must not count as none.
    @Test func aVersionThatCannotBeReadLetsNothingIn() async throws {
        let fleet = try await ended()
        try fleet.daemon.stop()
        try fleet.daemon.folder.write("{", to: "state/flags/app.version")
        try fleet.publish("no", version: 7, by: fleet.alice)
        try await fleet.daemon.start(awaitingReason: "version-unreadable", state: "ended")
        // It is read again at the next fetch.
        try File.remove(fleet.daemon.folder("state/flags/app.version"))
        try await fleet.daemon.awaitUntil("the version is known again") {
            _ = try fleet.daemon.control("refresh", "app")
            return try fleet.daemon.member("reason") == #""rollback""#
        }
    }

    /// A document acts only once its version is on disk.
    @Test func aVersionThatCannotBeStoredCountsForNothing() async throws {
        let fleet = try await Fleet.following()
        let file = fleet.daemon.folder("state/flags/app.version")
        try File.remove(file)
        try Directory.create("\(file)/in-the-way")
        try await fleet.publish(
            "yes", version: 9, by: fleet.alice, awaitingReason: "version-not-stored",
            state: "running")
        try shell("rm -r \(file)")
        try await fleet.daemon.awaitUntil("the order counts") {
            _ = try fleet.daemon.control("refresh", "app")
            return try fleet.daemon.member("state") == #""ended""#
        }
    }

    /// The stored flags are checked again: a signer who was removed never was one.
    @Test func aSignerWhoWasRemovedCountsNoMoreAfterARestart() async throws {
        let fleet = try await Fleet.following(
            Fleet.configuration(service: #"when_stale = "closed""#), by: \.bob)
        try fleet.daemon.stop()
        try fleet.list("alice")
        try await fleet.daemon.start(awaitingReason: "unproved-closed", state: "maintenance")
        let explanation = try fleet.daemon.control("explain", "shop").output
        for line in [
            "says       maintenance, closed: decides",
            "the signatures of the flags in force are no",
            "to do      have a listed signer sign the flags, or put their signer back",
        ] {
            #expect(explanation.contains(line), "\(explanation)")
        }
        #expect(!explanation.contains("the flags are in force"), "\(explanation)")
        try await fleet.publish("no", version: 9, by: fleet.alice, awaiting: "running")
        try fleet.daemon.control("status", "--check").expect(0)
    }

    /// While it runs, too, and as soon as the list has changed.
    @Test func aSignerWhoIsRemovedCountsNoMoreAtOnce() async throws {
        let fleet = try await Fleet.following(by: \.bob)
        try fleet.list("alice")
        try await fleet.daemon.awaitReason("unproved-hold", state: "running")
        try fleet.list("alice", "bob")
        try await fleet.daemon.awaitReason("flags")
    }

    /// A second person has signed before this host knew the key. Nobody has to sign again.
    @Test func aSignerWhoIsAddedCountsAtOnce() async throws {
        let fleet = try Fleet(Fleet.configuration(service: "signatures_to_close = 2"))
        try fleet.list("alice")
        try fleet.publish("no", version: 8, by: fleet.alice)
        try await fleet.daemon.start(awaitingReason: "flags")
        try await fleet.publish(
            "yes", version: 9, by: fleet.alice, fleet.bob, awaitingReason: "awaiting-signature")
        try fleet.list("alice", "bob")
        try await fleet.daemon.awaitState("ended")
        #expect(try fleet.daemon.member("author") == #"["alice","bob"]"#)
    }

    /// A key is lost. The order stays the same, and another person signs it.
    @Test func theSameDocumentSignedByAnotherIsProved() async throws {
        let fleet = try Fleet()
        let document = Fleet.document("no", version: 8)
        try fleet.publish(fleet.signed(document, by: [fleet.bob]))
        try await fleet.daemon.start(awaitingReason: "flags")
        try fleet.list("alice")
        try await fleet.daemon.awaitReason("unproved-hold")
        try await fleet.publish(fleet.signed(document, by: [fleet.alice]), awaitingReason: "flags")
        #expect(try fleet.daemon.member("author") == #"["alice"]"#)
        try fleet.daemon.control("refresh", "app").expect(0)
    }

    /// What one person has signed is stored for the service that follows one. It counts for no other.
    @Test func aRestartAcceptsNoOrderThatLacksASignature() async throws {
        let fleet = try Fleet(
            Fleet.configuration() + Daemon.service("bank", on: "app", "signatures_to_close = 2"))
        let bank = { try fleet.daemon.member("reason", of: "bank") }
        try fleet.publish("no", version: 8, by: fleet.alice, fleet.bob)
        try await fleet.daemon.start(awaitingReason: "flags")
        try await fleet.publish("yes", version: 9, by: fleet.alice, awaiting: "ended")
        try await fleet.daemon.awaitUntil("bank waits") {
            try bank() == #""awaiting-signature""#
        }
        try fleet.daemon.stop()
        let lines = try fleet.daemon.lines(with: "bank:").count
        try fleet.daemon.start()
        try await fleet.daemon.awaitUntil("bank waits again") {
            try fleet.daemon.lines(with: "bank:").count > lines
                && bank() == #""awaiting-signature""#
        }
        #expect(try fleet.daemon.member("state", of: "bank") == #""running""#)
        #expect(try fleet.daemon.member("state") == #""ended""#)
        #expect(try fleet.daemon.lines(with: "bank: ended").isEmpty)
        #expect(try fleet.daemon.lines(with: "bank: maintenance").isEmpty)
    }

    /// A list that is broken or gone proves and disproves nothing: the last good flags stay in force.
    @Test func aListThatIsGoneChangesNothing() async throws {
        let fleet = try await ended()
        try File.remove(fleet.daemon.folder("allowed_signers"))
        try await fleet.publish(
            "no", version: 9, by: fleet.alice, awaitingReason: "signers-unreadable", state: "ended")
        try fleet.daemon.stop()
        try await fleet.daemon.start(awaitingReason: "signers-unreadable", state: "ended")
    }

    /// A user who may write the list may give orders.
    @Test func aListThatOthersMayWriteIsRefused() async throws {
        let fleet = try Fleet()
        try shell("chmod 666 \(fleet.daemon.folder("allowed_signers"))")
        try fleet.publish("yes", version: 8, by: fleet.alice)
        try await fleet.daemon.start(awaitingLine: "its mode 666 lets others write it")
        try shell("chmod 644 \(fleet.daemon.folder("allowed_signers"))")
        try await fleet.daemon.awaitState("ended")
    }

    /// Unsigned flags of before hold until the first signed document.
    @Test func aSourceThatGetsSignersKeepsItsFlagsUntilItAnswers() async throws {
        let signed = Fleet.configuration(service: #"when_stale = "closed""#)
        let unsigned = signed.split(separator: "\n")
            .filter { !$0.hasPrefix("signers") && !$0.hasPrefix("audience") }
            .joined(separator: "\n")
        let fleet = try Fleet(unsigned)
        try fleet.publish(#"{"service_end": "no"}"#)
        try await fleet.daemon.start(awaiting: "running")
        try await fleet.publish("no", version: 1, by: fleet.alice, awaitingReason: "invalid-answer")
        try fleet.daemon.reload(signed)
        try await fleet.daemon.awaitReason("flags")
        #expect(try fleet.daemon.member("author") == #"["alice"]"#)
        #expect(try fleet.daemon.lines(with: "shop: maintenance").isEmpty)
    }
}
