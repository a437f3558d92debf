import Files
import JSON
import Support
import Testing

/// Signed documents on web servers and in etcd, and the principals in every record.
@Suite(.timeLimit(.minutes(5))) struct SignedPlaceTests {
    @Test func aWebServerHoldsASignedDocument() async throws {
        let server = try await FlagServer()
        try await server.behave("document")
        let fleet = try Fleet(
            Fleet.configuration(
                place: """
                    type = "http"
                    url = "http://127.0.0.1:\(server.port)/flags"
                    interval = "100ms"
                    max_body = "64KiB"
                    """))
        let publish = { (text: String) in try server.folder.write(text, to: "document") }
        try publish(fleet.signed(Fleet.document("no", version: 1), by: [fleet.alice]))
        try await fleet.daemon.start(awaitingReason: "flags")
        try publish(fleet.signed(Fleet.document("yes", version: 2), by: [fleet.mallory]))
        try await fleet.daemon.awaitReason("signer-not-listed")
        try publish(String(repeating: " ", count: 65 << 10))
        try await fleet.daemon.awaitReason("document-too-large")
        try publish(fleet.signed(Fleet.document("yes", version: 2), by: [fleet.bob]))
        try await fleet.daemon.awaitState("ended")
        #expect(try fleet.daemon.member("author") == #"["bob"]"#)
        #expect(try fleet.daemon.member("version") == #""2""#)
    }

    /// The prefix is the key of the one document.
    @Test func etcdHoldsASignedDocument() async throws {
        let cluster = try await EtcdCluster()
        let fleet = try Fleet(
            Fleet.configuration(
                place: """
                    type = "etcd"
                    endpoints = \(cluster.endpoints)
                    prefix = "/flags/prod"
                    interval = "1h"
                    """))
        let publish = { (text: String) in _ = try cluster.control("put", "/flags/prod", text) }
        try publish(fleet.signed(Fleet.document("no", version: 1), by: [fleet.alice]))
        try await fleet.daemon.start(awaitingReason: "flags")
        try publish(fleet.signed(Fleet.document("yes", version: 2), by: [fleet.mallory]))
        try await fleet.daemon.awaitReason("signer-not-listed")
        try publish(fleet.signed(Fleet.document("yes", version: 2), by: [fleet.alice]))
        try await fleet.daemon.awaitState("ended")
        #expect(try fleet.daemon.member("author") == #"["alice"]"#)
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
        let explanation = try daemon.control(
            "explain", "shop", "--state-directory", daemon.folder("state"))
        #expect(explanation.output.contains("signed by"), "\(explanation)")
        #expect(explanation.output.contains("author     alice, bob"), "\(explanation)")
        try await Support.waitUntil("the metrics name them") {
            try File.exists(daemon.folder("run/metrics.prom"))
                && daemon.folder.text(of: "run/metrics.prom").contains(#"author="alice,bob""#)
        }
        #expect(
            try daemon.control("force", "shop", "running", "--reason", "drill", "--for", "1h")
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
