import JSON
import Support
import Testing

/// Text from outside that would steer a terminal, on every way to a terminal or a log.
///
/// The text stands in everything that somebody else can write: flags, their keys, the reason of an order and
/// names on the command line.
@Suite(.timeLimit(.minutes(5))) struct HostileTextTests {
    /// A text that a terminal must not get, and its form in JSON.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let json: String
        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "escape sequence", text: "\u{1B}[2J", json: #"\u001b[2J"#),
        Case(name: "delete", text: "\u{7F}", json: #"\u007f"#),
        Case(name: "next line", text: "\u{85}", json: #"\u0085"#),
        Case(name: "control sequence introducer", text: "\u{9B}2J", json: #"\u009b2J"#),
        Case(name: "right-to-left override", text: "\u{202E}", json: #"\u202e"#),
        Case(name: "isolate", text: "\u{2067}", json: #"\u2067"#),
        Case(name: "line separator", text: "\u{2028}", json: #"\u2028"#),
        Case(name: "carriage return", text: "\r", json: #"\r"#),
        Case(name: "line feed", text: "\nshop: running", json: #"\nshop: running"#),
        Case(name: "tag", text: "\u{E0041}", json: #"\udb40\udc41"#),
    ]

    /// What each command line prints about a service whose flags hold the text, for people and as JSON.
    private static let commands = [
        ["status"], ["explain", "shop"], ["is-open", "shop"], ["units"], ["units", "shop"],
        ["refresh"], ["refresh", "shop"], ["activate"], ["forget", "shop"],
        ["wait", "shop", "--for", "closed", "--timeout", "0s"], ["release", "shop"],
        ["confirm", "shop"],
        ["get", "shop", "values"], ["get", "shop", "values.note", "--json"],
    ]

    @Test(arguments: cases) func noCommandLetsItThrough(_ example: Case) throws {
        let daemon = try hostileDaemon(example.text)
        try daemon.start(waitingFor: "maintenance")
        try daemon.waitUntilItAnswers()
        let orders = [
            [
                "close", "shop", "--state", "ended", "--reason", "why \(example.text) so", "--for",
                "1h",
            ],
            ["status"], ["explain", "shop"], ["get", "shop", "reason_text"],
        ]
        for arguments in Self.commands + orders {
            let result = try daemon.control(arguments)
            check(result.output, of: arguments)
            check(result.errors, of: arguments)
        }
        for unknown in [["status", example.text], ["get", "shop", example.text], [example.text]] {
            check(try daemon.control(unknown).errors, of: unknown)
        }
        try daemon.stop()
    }

    @Test(arguments: cases) func jsonEscapesIt(_ example: Case) throws {
        let daemon = try hostileDaemon(example.text)
        try daemon.start(waitingFor: "maintenance")
        for arguments in [
            ["status", "--json"], ["explain", "shop", "--json"],
            ["get", "shop", "title", "--json"],
        ] {
            let output = try daemon.control(arguments).output
            check(output, of: arguments)
            #expect(output.contains("title \(example.json)"), "\(arguments)")
        }
        #expect(
            try daemon.member("title").map { try JSON.Value.parse($0).string }
                == "title \(example.text)")
    }

    @Test(arguments: cases) func aScriptGetsAFieldAsItIsAndATerminalDoesNot(_ example: Case) throws
    {
        let daemon = try hostileDaemon(example.text)
        try daemon.start(waitingFor: "maintenance")
        #expect(try daemon.control("get", "shop", "title").output == "title \(example.text)\n")
        // script(1) runs it at a terminal, which turns each line feed into two characters.
        let command =
            "'\(try Programs.path(of: "killswitchctl"))' get shop title --runtime-directory \(daemon.folder("run"))"
        let shown = try Program.run(
            "/usr/bin/script", ["--quiet", "--return", "--command", command, "/dev/null"]
        ).expect(0)
        checkPrintable(shown.output.replacing("\r\n", with: "\n"), of: ["get", "at a terminal"])
    }

    @Test(arguments: cases) func theLogShowsItHarmless(_ example: Case) throws {
        let daemon = try hostileDaemon(example.text)
        try daemon.start(waitingFor: "maintenance")
        _ = try daemon.control([
            "close", "shop", "--state", "ended", "--reason", "why \(example.text) so", "--for",
            "1h",
        ])
        try daemon.folder.write(
            "{\"\(example.json)\": 1, \"\(example.json)\": 2}", to: "flags.json")
        try daemon.waitUntil("the flags are refused") {
            try daemon.log.contains("duplicate key")
        }
        let log = try daemon.log
        check(log, of: ["the log"])
        #expect(log.split(separator: "\n").allSatisfy { $0.hasPrefix("killswitchd: ") }, "\(log)")
    }

    @Test(arguments: cases) func aCheckOfTheConfigurationShowsItHarmless(_ example: Case) throws {
        let daemon = try Daemon()
        // An escape of TOML: the file itself may not hold a control.
        let escaped = example.text.unicodeScalars.map { scalar in
            let digits = String(scalar.value, radix: 16)
            return "\\U" + String(repeating: "0", count: 8 - digits.utf8.count) + digits
        }.joined()
        try daemon.folder.write(
            """
            [service.shop]
            source = "file:flags\(escaped).json"
            format = "\(escaped)"
            "key\(escaped)" = 1
            """, to: "killswitchd.toml")
        let result = try daemon.run("--check").expect(78)
        check(result.output + result.errors, of: ["--check"])
        #expect(result.errors.contains(#"unknown key"#))
    }

    private func hostileDaemon(_ text: String) throws -> Daemon {
        let flags: JSON.Object = [
            "state": .string("maintenance"), "title": .string("title \(text)"),
            "message": .string("message \(text)"), "note": .string("note \(text)"),
        ]
        return try Daemon(
            Daemon.service(
                format: "switch", #"min_closed = "0s""#, "[service.shop.values]",
                #"note = { type = "string", default = "" }"#),
            flags: JSON.Value.object(flags).serialized())
    }

    /// Only printable text, and no line that the text has added.
    private func check(_ printed: String, of arguments: [String]) {
        checkPrintable(printed, of: arguments)
        #expect(!printed.split(separator: "\n").contains("shop: running"), "\(arguments)")
    }

    private func checkPrintable(_ printed: String, of arguments: [String]) {
        let lines = printed.split(separator: "\n", omittingEmptySubsequences: false)
        for line in lines {
            let bad = line.unicodeScalars.filter { !$0.isPrintable }.map {
                String($0.value, radix: 16)
            }
            #expect(bad.isEmpty, "\(arguments): \(bad) in \(line.debugDescription)")
        }
    }
}
