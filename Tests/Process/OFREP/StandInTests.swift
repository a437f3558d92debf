import Files
import Glibc
import Support
import Testing

/// The server of these tests is one as OpenFeature means it: its own client, the one from the Python
/// package index, understands each answer.
@Suite(.serialized, .timeLimit(.minutes(5))) struct StandInTests {
    @Test func openFeaturesOwnClientUnderstandsTheServer() async throws {
        let server = try await FlagServer.ofrep()
        try server.folder.write(
            """
            {"open": {"value": true, "variant": "on"}, "end": {"value": "2027-03-01"},
             "count": {"value": 3}, "share": {"value": 0.25},
             "shop": {"value": {"state": "running"}},
             "left-to-code": {}, "targeted": {"value": true, "for": "web-1"},
             "broken": {"errorCode": "PARSE_ERROR", "errorDetails": "broken"}}
            """, to: "flags.json")
        try server.folder.write("token", to: "bearer")
        let environment = server.folder("venv")
        try run("/usr/bin/python3", ["-m", "venv", environment])
        try run(
            "\(environment)/bin/pip",
            [
                "--quiet", "--disable-pip-version-check", "install",
                "openfeature-provider-ofrep==0.3.0",
            ])
        let url = "http://127.0.0.1:\(server.port)"
        let client = try run(
            "\(environment)/bin/python", [FlagServer.script("ofrep-client.py"), url, "token"])
        #expect(
            client == """
                boolean True STATIC - on
                string '2027-03-01' STATIC - default
                integer 3 STATIC - default
                float 0.25 STATIC - default
                object {'state': 'running'} STATIC - default
                code default True STATIC - default
                for this host True TARGETING_MATCH - default
                for another False DISABLED - default
                missing False ERROR FLAG_NOT_FOUND None
                failed False ERROR PARSE_ERROR None
                no key False ERROR TARGETING_KEY_MISSING None

                """)
        let refused = try run(
            "\(environment)/bin/python", [FlagServer.script("ofrep-client.py"), url, "other"])
        #expect(refused.hasPrefix("boolean False ERROR GENERAL None\n"))
    }

    @discardableResult
    private func run(_ path: String, _ arguments: [String]) throws -> String {
        let result = try Program.run(path, arguments, environment: packageEnvironment)
        guard result.status == 0 else { throw TestFailure("\(path): \(result.errors)") }
        return result.output
    }
}

/// Where packages come from on this machine, as the environment says.
private var packageEnvironment: [String: String] {
    let names = [
        "HOME", "PIP_CERT", "PIP_CONFIG_FILE", "PIP_INDEX_URL", "HTTPS_PROXY", "https_proxy",
        "NO_PROXY", "no_proxy",
    ]
    return names.reduce(into: [:]) { environment, name in
        guard let value = unsafe getenv(name) else { return }
        environment[name] = unsafe String(cString: value)
    }
}
