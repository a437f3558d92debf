import Files
import JSON
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

    @Test(arguments: attacks) func anAttackChangesNothingAndSaysWhy(_ attack: Attack) async throws {
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
        try await daemon.awaitMember("version", "10")
        #expect(try daemon.member("state") == #""ended""#)
        #expect(try daemon.member("author") == #"["alice","bob"]"#)
    }

    /// A freeze: the document stays the newest for ever. Its flags are stale, and not gone.
    @Test func aFreezeIsStaleFlags() async throws {
        let fleet = try Fleet(Fleet.configuration(service: #"when_stale = "closed""#))
        let daemon = fleet.daemon
        let document = Fleet.document("no", version: 8, expires: .seconds(30))
        try fleet.publish(fleet.signed(document, by: [fleet.alice]))
        try await daemon.start(awaitingReason: "expired-closed")
        #expect(try daemon.lines(with: "shop: running").count == 1)
        #expect(try daemon.member("state") == #""maintenance""#)
        #expect(try daemon.member("stale") == "true")
        try await fleet.publish("no", version: 9, by: fleet.alice, awaiting: "running")
    }
}

/// Signed documents on web servers and in etcd, and the principals in every record.
@Suite(.timeLimit(.minutes(5))) struct SignedPlaceTests {
    @Test func aWebServerHoldsASignedDocument() async throws {
        let server = try await FlagServer()
        try await server.behave("document")
        let place = """
            type = "http"
            url = "http://127.0.0.1:\(server.port)/flags"
            interval = "100ms"
            max_body = "64KiB"
            """
        let publish = { (text: String) in try server.folder.write(text, to: "document") }
        let daemon = try await follow(place, publish) { daemon in
            try publish(String(repeating: " ", count: 65 << 10))
            try await daemon.awaitReason("document-too-large")
        }
        #expect(try daemon.member("version") == #""2""#)
    }

    /// The prefix is the key of the one document.
    @Test func etcdHoldsASignedDocument() async throws {
        let cluster = try await EtcdCluster()
        let place = """
            type = "etcd"
            endpoints = \(cluster.endpoints)
            prefix = "/flags/prod"
            interval = "1h"
            """
        _ = try await follow(place, { _ = try cluster.control("put", "/flags/prod", $0) })
    }

    /// A daemon that takes what signers publish at a place, and nothing else; `meanwhile` comes before the last order.
    private func follow(
        _ place: String, _ publish: (String) throws -> Void,
        meanwhile: (Daemon) async throws -> Void = { _ in }
    ) async throws -> Daemon {
        let fleet = try Fleet(Fleet.configuration(place: place))
        try publish(fleet.signed(Fleet.document("no", version: 1), by: [fleet.alice]))
        try await fleet.daemon.start(awaitingReason: "flags")
        try publish(fleet.signed(Fleet.document("yes", version: 2), by: [fleet.mallory]))
        try await fleet.daemon.awaitReason("signer-not-listed")
        try await meanwhile(fleet.daemon)
        try publish(fleet.signed(Fleet.document("yes", version: 2), by: [fleet.bob]))
        try await fleet.daemon.awaitState("ended")
        #expect(try fleet.daemon.member("author") == #"["bob"]"#)
        return fleet.daemon
    }

    @Test func everyRecordNamesThePrincipals() async throws {
        let fleet = try Fleet()
        let daemon = fleet.daemon
        try fleet.publish("yes", version: 1, by: fleet.alice, fleet.bob)
        try await daemon.start(awaiting: "ended")
        // The log comes after the files.
        try await daemon.awaitLine("shop: ended")
        #expect(
            try daemon.folder.text(of: "run/shop/state.env").contains(
                "KILLSWITCH_AUTHOR=\"alice,bob\"\n"))
        #expect(try !daemon.lines(with: "signed by 'alice', 'bob'").isEmpty)
        #expect(try daemon.control("get", "shop", "author").output == "[\"alice\",\"bob\"]\n")
        let explanation = try daemon.control("explain", "shop")
        #expect(explanation.output.contains("signed by"), "\(explanation)")
        #expect(explanation.output.contains("author     alice, bob"), "\(explanation)")
        try await Support.waitUntil("the metrics name them") {
            try File.exists(daemon.folder("run/metrics.prom"))
                && daemon.folder.text(of: "run/metrics.prom").contains(#"author="alice,bob""#)
        }
        #expect(
            try daemon.control("open", "shop", "--reason", "drill", "--for", "1h")
                .status == 0)
        try await daemon.awaitState("running")
        #expect(try daemon.member("author") != #"["alice","bob"]"#)
        #expect(try daemon.member("author")?.contains("uid") == true)
    }

    /// What makes no difference is an error of the configuration, and never skipped.
    @Test(arguments: [
        (#"signers = "allowed_signers""#, "'signers' in [source.app] needs 'audience' beside it"),
        (#"audience = "prod""#, "'audience' in [source.app] needs 'signers' beside it"),
        (
            "signers = \"allowed_signers\"\naudience = \"\"",
            "bad audience '' for 'audience' in [source.app]: it is empty"
        ),
    ])
    func halfARuleIsAnError(lines: String, message: String) throws {
        let daemon = try Daemon(
            source: "type = \"file\"\npath = \"flags.json\"\n\(lines)",
            service: #"format = "service-end""#)
        try daemon.run("--check").expect(78, errors: message)
    }
}
