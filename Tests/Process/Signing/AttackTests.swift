import Support
import Testing

/// Each way to misuse documents that were signed once, or to do without, against the shipped daemon.
@Suite(.timeLimit(.minutes(5))) struct AttackTests {
    /// A document that somebody shows to a host which has accepted version 8, and what the host makes of it.
    struct Attack: CustomTestStringConvertible, Sendable {
        let name: String
        let reason: String
        var service = ""
        let document: @Sendable (Fleet) throws -> String

        init(
            _ name: String, _ reason: String, service: String = "",
            _ document: @escaping @Sendable (Fleet) throws -> String
        ) {
            self.name = name
            self.reason = reason
            self.service = service
            self.document = document
        }

        var testDescription: String { name }
    }

    private static let order = Fleet.document("yes", version: 9)

    static let attacks = [
        Attack("no signature", "unsigned") { _ in order },
        Attack("forge", "signer-not-listed") { try $0.signed(order, by: [$0.mallory]) },
        Attack("change", "changed-bytes") {
            try $0.signed(Fleet.document("no", version: 9), by: [$0.alice])
                .replacing(#""no""#, with: #""yes""#)
        },
        Attack("mix-and-match: the signatures of another moment", "changed-bytes") {
            order + (try $0.alice.sign(Fleet.document("no", version: 9)))
        },
        Attack("replay of a document for other hosts", "other-audience") {
            try $0.signed(Fleet.document("yes", version: 9, audience: "stage"), by: [$0.alice])
        },
        Attack("replay of a signature for another purpose", "other-namespace") {
            order + (try $0.alice.sign(order, namespace: "git"))
        },
        Attack("rollback", "rollback") {
            try $0.signed(Fleet.document("yes", version: 7), by: [$0.alice])
        },
        Attack("equivocation", "same-version-other-bytes") {
            try $0.signed(Fleet.document("yes", version: 8), by: [$0.alice])
        },
        Attack("an old document at first sight", "expired-at-first-sight") {
            let old = Fleet.document("yes", version: 9, expires: .seconds(-1))
            return try $0.signed(old, by: [$0.alice])
        },
        Attack("endless data", "document-too-large") {
            try $0.signed(order, by: [$0.alice]) + String(repeating: "\n", count: 1 << 20)
        },
        Attack("too many signatures", "too-many-signatures") {
            let signature = try $0.alice.sign(order)
            return order + String(repeating: signature, count: 17)
        },
        Attack("bytes after the signature", "trailing-bytes") {
            try $0.signed(order, by: [$0.alice]) + "{}\n"
        },
        Attack("half a signature", "malformed-signature") {
            String(try $0.signed(order, by: [$0.alice]).dropLast(60))
        },
        Attack("a stolen key that has expired", "signer-no-longer-valid") {
            try $0.list([
                "alice \($0.alice.publicText)",
                #"bob valid-before="20200101" \#($0.bob.publicText)"#,
            ])
            return try $0.signed(order, by: [$0.bob])
        },
        Attack("a key before its time", "signer-not-yet-valid") {
            try $0.list([
                "alice \($0.alice.publicText)",
                #"bob valid-after="29990101" \#($0.bob.publicText)"#,
            ])
            return try $0.signed(order, by: [$0.bob])
        },
        Attack("a signer for other purposes", "signer-for-other-namespaces") {
            try $0.list([
                "alice \($0.alice.publicText)", #"bob namespaces="git" \#($0.bob.publicText)"#,
            ])
            return try $0.signed(order, by: [$0.bob])
        },
        Attack("a removed signer", "signer-not-listed") {
            try $0.list(["alice \($0.alice.publicText)"])
            return try $0.signed(order, by: [$0.bob])
        },
        Attack("a key of another type", "key-type-not-accepted") {
            try $0.signed(order, by: [try SigningKey("rsa", in: $0.daemon.folder, name: "rsa")])
        },
        Attack("a security key that nobody touched", "security-key-untouched") {
            let token = try SoftwareSecurityKey(in: $0.daemon.folder)
            try $0.list(["alice \($0.alice.publicText)", "carol \(token.publicText)"])
            return order + (try token.sign(order, flags: 0))
        },
        Attack("no version", "signed-member-unreadable") {
            let text = order.replacing(#""version": 9, "#, with: "")
            return try $0.signed(text, by: [$0.alice])
        },
        Attack("a list that nobody can read", "signers-unreadable") {
            try $0.list(["alice cert-authority \($0.alice.publicText)"])
            return try $0.signed(order, by: [$0.alice])
        },
        Attack("one signer twice", "awaiting-signature", service: "signatures_to_close = 2") {
            try $0.signed(order, by: [$0.alice, $0.alice])
        },
        Attack(
            "one person with two keys", "awaiting-signature", service: "signatures_to_close = 2"
        ) {
            try $0.list(["alice \($0.alice.publicText)", "alice \($0.bob.publicText)"])
            return try $0.signed(order, by: [$0.alice, $0.bob])
        },
    ]

    @Test(arguments: attacks)
    func anAttackChangesNothingAndSaysWhy(_ attack: Attack) async throws {
        let fleet = try Fleet(Fleet.configuration(service: attack.service))
        let daemon = fleet.daemon
        try fleet.publish("no", version: 8, by: fleet.alice)
        try await daemon.start(awaiting: "running")
        try await daemon.awaitReason("flags")
        // As for a new document, so that the host never sees the list of before beside it.
        try daemon.folder.write(try attack.document(fleet), to: "next")
        try await fleet.publish(
            daemon.folder.text(of: "next"), awaitingReason: attack.reason, state: "running")
        #expect(try daemon.member("version") == #""8""#)
        #expect(try daemon.member("author") == #"["alice"]"#)
        try await daemon.awaitUntil("one line says so") {
            try daemon.lines(with: "shop: running").count == 2
        }
        // It is over with the next good document.
        try fleet.list("alice", "bob")
        try fleet.publish("yes", version: 10, by: fleet.alice, fleet.bob)
        try await daemon.awaitUntil("version 10 counts") {
            try daemon.member("version") == #""10""#
        }
        #expect(try daemon.member("state") == #""ended""#)
        #expect(try daemon.member("author") == #"["alice","bob"]"#)
    }

    /// A freeze: the document stays the newest for ever. Its flags are stale, and not gone.
    @Test func aFreezeIsStaleFlags() async throws {
        let fleet = try Fleet(Fleet.configuration(service: #"when_stale = "closed""#))
        let daemon = fleet.daemon
        let document = Fleet.document("no", version: 8, expires: .seconds(10))
        try fleet.publish(fleet.signed(document, by: [fleet.alice]))
        try await daemon.start(awaitingReason: "expired-closed")
        #expect(try daemon.lines(with: "shop: running").count == 1)
        #expect(try daemon.member("state") == #""maintenance""#)
        #expect(try daemon.member("stale") == "true")
        try await fleet.publish("no", version: 9, by: fleet.alice, awaiting: "running")
    }
}
