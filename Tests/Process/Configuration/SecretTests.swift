import Files
import Glibc
import Support
import Testing

/// What holds a secret is for the daemon alone: its memory, and the queries of addresses.
@Suite(.timeLimit(.minutes(5))) struct SecretTests {
    /// For a process without dumps the kernel gives these files to root.
    @Test func theMemoryOfTheDaemonIsInNoDumpAndForNoOtherProcess() throws {
        let daemon = try Daemon()
        var wrapper: [String] = []
        if geteuid() == 0 {
            let folder = daemon.folder.path
            #expect(try Program.run("/bin/chown", ["-R", "65534", folder]).status == 0)
            wrapper = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        }
        try daemon.start(through: wrapper, waitingFor: "running")
        let process = try #require(daemon.program?.processID)
        let owners = try Program.run(
            "/usr/bin/stat", ["--format=%u", "/proc/\(process)/environ", "/proc/\(process)/mem"])
        #expect(owners.output == "0\n0\n")
        #expect(try daemon.stop() == 0)
    }

    @Test func theQueryOfAnAddressIsInNothingThatOthersCanRead() async throws {
        let server = try await FlagServer()
        let daemon = try Daemon(asking: "http://127.0.0.1:\(server.port)/flags?token=SECRET")
        try await daemon.start(awaiting: "running")
        #expect(try server.requests.first?.path == "/flags?token=SECRET")
        for behaviour in ["500", "redirect-host", "cut-short", "wrong-type", "other-coding"] {
            try await server.behave(behaviour)
            try await waitUntil("it meets '\(behaviour)'") {
                try server.requests.contains { $0.behaviour == behaviour }
            }
        }
        for shown in [
            try daemon.control("status", "--json"), try daemon.control("explain", "shop"),
            try daemon.control("history", "shop"),
        ] {
            #expect(!(shown.output + shown.errors).contains("SECRET"))
        }
        let checked = try daemon.run("--check")
        #expect(checked.output.contains("/flags?…"))
        #expect(!(checked.output + checked.errors).contains("SECRET"))

        try daemon.configure(
            "[service.shop]\nsource = \"htps://127.0.0.1/?token=SECRET\"\nformat = \"status\"\n")
        let reloaded = try daemon.control("reload").expect(78, errors: "htps://127.0.0.1/?…")
        #expect(!reloaded.errors.contains("SECRET"))
        #expect(try daemon.folder.text(of: "run/configuration.refused").contains("?…"))
        #expect(try Program.run("/bin/grep", ["-r", "SECRET", daemon.folder("run")]).status == 1)
        #expect(try !daemon.log.contains("SECRET"))
    }

    @Test func aTokenOverPlainHTTPToAnotherHostIsAnErrorWithAWayOut() throws {
        let source = """
            [source.app]
            type = "http"
            url = "http://flags.example/"
            bearer = "token"

            """
        let service = "[service.shop]\nsource = \"app\"\nformat = \"status\"\n"
        let daemon = try Daemon(source + service)
        let refused = try daemon.run("--check")
        #expect(refused.status == 78)
        #expect(
            refused.errors == "killswitchd: error: \(daemon.folder("killswitchd.toml")):4:1: "
                + "'bearer' in [source.app] would be sent in clear: 'url' is not https; write "
                + "'https://', or add 'allow_plain_http = true'\n")
        try daemon.configure("\(source)allow_plain_http = true\n\(service)")
        #expect(try daemon.run("--check").status == 0)
    }
}
