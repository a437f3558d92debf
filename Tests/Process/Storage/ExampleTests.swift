import Files
import JSON
import Support
import Testing

/// What 0.1 has stored, which every later version reads. `Tests/Examples/0.1` never changes: see docs/stability.md.
@Suite(.timeLimit(.minutes(2))) struct ExampleTests {
    private static let examples = "\(Programs.project)/Tests/Examples/0.1"

    /// A daemon with the configuration of the example, the state that 0.1 has left in this boot, and none of the flags.
    private func daemon() throws -> Daemon {
        let daemon = try Daemon("", flags: nil)
        try copy("published/state", of: daemon, as: "state")
        for file in ["killswitchd.toml", "allowed_signers"] {
            try copy("etc/\(file)", of: daemon, as: file)
        }
        // After a reboot flags that open would wait for an answer.
        try Program.succeed(
            "/bin/sh",
            [
                "-c",
                #"sed -i "s/\(\"boot_id\":\"\)[^\"]*/\1$(cat /proc/sys/kernel/random/boot_id)/" "$0""#,
                daemon.folder("state/services.json"),
            ])
        return daemon
    }

    private func copy(_ path: String, of daemon: Daemon, as name: String) throws {
        // Without their owner: root runs this in CI.
        try Program.succeed(
            "/bin/cp", ["--recursive", "\(Self.examples)/\(path)", daemon.folder(name)])
        // git keeps no mode, and what only the daemon may read has to be so.
        try Program.succeed("/bin/chmod", ["--recursive", "go-rwx", daemon.folder(name)])
    }

    private func published(_ path: String) throws -> JSON.Value {
        let text = try Programs.text(of: "Tests/Examples/0.1/published/\(path)")
        return try JSON.Value.parse(text)
    }

    @Test func aDaemonContinuesWithWhatWasStored() async throws {
        let daemon = try daemon()
        try await daemon.start(awaitingLine: "web: ")
        try daemon.control("wait", "shop", "--for", "decided", "--timeout", "10s").expect(0)
        try daemon.control("wait", "mail", "--for", "decided", "--timeout", "10s").expect(0)
        // The flags: of an unsigned source, of a signed one with its author, and values.
        for (service, members) in [
            ("shop", ["state", "ends_at", "title", "message", "variant", "values", "source"]),
            ("mail", ["state", "title", "message", "retry_after", "author", "source", "version"]),
            ("web", ["state", "author"]),
        ] {
            let before = try published("run/\(service)/state.json").object
            for member in members {
                let text = try #require(before?[member]).serialized()
                #expect(try daemon.member(member, of: service) == text, "\(member) of \(service)")
            }
            // A state that goes on keeps its beginning and its number.
            #expect(
                try daemon.member("generation", of: service) == before?["generation"]?.serialized())
        }
        try daemon.control("get", "web", "override.reason").expect(0, output: "an example")
        let status = try daemon.control("status", "--json")
        let shop = try JSON.Value.parse(status.output).object?["services"]?.array?
            .compactMap(\.object).first { $0["service"]?.string == "shop" }
        #expect(shop?["drill"]?.object?["last_good"]?.string != nil, "the last drill")
        for word in ["cannot be read", "cannot read", "expected", "unreadable"] {
            let lines = try daemon.lines(with: word)
            #expect(lines.isEmpty, "\(lines)")
        }
    }

    @Test func anOlderDocumentThanTheStoredVersionIsARollback() async throws {
        let daemon = try daemon()
        try copy("older/orders.json", of: daemon, as: "orders.json")
        try daemon.start()
        try await daemon.awaitUntil("the refusal") {
            try daemon.control("get", "mail", "reason").output == "rollback\n"
        }
        #expect(try daemon.member("state", of: "mail") == #""maintenance""#)
    }

    @Test func theConfigurationThatWasKeptIsInForceBesideABrokenOne() async throws {
        let daemon = try daemon()
        try daemon.folder.write("[service.shop]\nformt = 1\n", to: "killswitchd.toml")
        try await daemon.start(awaitingLine: "the last accepted one stays in force")
        try daemon.control("wait", "shop", "--for", "countdown", "--timeout", "10s").expect(0)
    }

    /// Each key and each kind of value of 0.1. The files and credentials that it names are missing, which is a warning.
    @Test func everyKeyIsStillAccepted() throws {
        try Programs.run(
            "killswitchd", ["--check", "--config", "\(Self.examples)/every-key.toml"]
        ).expect(0)
    }

    @Test func aPromiseThatIsBrokenIsNamed() throws {
        let shape = { (text: String) in try PublishedShape(of: "state.json", text) }
        let older = try shape(#"{"schema": 1, "end": null, "list": [{"name": "a"}]}"#)
        #expect(
            try shape(#"{"schema": 1, "end": "x", "list": [{"name": "a", "new": 1}]}"#)
                .breaks(older, of: "0.1") == [])
        #expect(
            try shape(#"{"schema": "1", "list": [{}]}"#).breaks(older, of: "0.1") == [
                "'end' of 0.1 is gone: see docs/stability.md",
                "'list[].name' of 0.1 is gone: see docs/stability.md",
                "'schema' was a number in 0.1, and is a string: see docs/stability.md",
            ])
        let metrics = { (text: String) in try PublishedShape(of: "metrics.prom", text) }
        #expect(
            try metrics("# TYPE a gauge\na{b=\"1\"} 1\n").breaks(
                try metrics("# TYPE a counter\na{b=\"1\",c=\"2\"} 1\n"), of: "0.1") == [
                    "'a' was a counter in 0.1, and is a gauge: see docs/stability.md",
                    "'a{c}' of 0.1 is gone: see docs/stability.md",
                ])
    }
}
