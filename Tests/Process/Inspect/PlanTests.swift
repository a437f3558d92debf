import Files
import JSON
import Support
import Testing

@Suite(.timeLimit(.minutes(5))) struct PlanTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(Self.planned, to: "plan.json")
        try folder.write(#"{"service_end": "no", "limit": "12"}"#, to: "app.json")
        try folder.write(Self.configuration, to: "killswitchd.toml")
    }

    private static let planned = #"""
        {"state": "running", "windows": [{"from": "2097-03-03T10:00:00Z",
            "until": "2097-03-03T11:00:00Z", "title": "Works"}]}
        """#

    private static let configuration = """
        [source.app]
        type = "file"
        path = "nowhere.json"
        [source.plan]
        type = "file"
        path = "nowhere-else.json"
        [service.shop]
        time_zone = "Asia/Tokyo"
        max_stale = "24h"
        when_stale = "closed"
        [service.shop.values]
        limit = { key = "limit", type = "integer" }
        [[service.shop.switch]]
        source = "app"
        format = "service-end"
        [[service.shop.switch]]
        source = "plan"
        format = "switch"
        """

    private func plan(_ arguments: String...) throws -> Program.Result {
        try Programs.run("killswitchctl", ["plan"] + arguments)
    }

    @Test func itReadsStandardInput() throws {
        let result = try Program.run(
            "/bin/sh",
            [
                "-c", "\"$0\" plan - --format switch --at 2097-03-01T12:00:00Z < \"$1\"",
                try Programs.path(of: "killswitchctl"), folder("plan.json"),
            ])
        #expect(result.status == 0 && result.output.hasPrefix("document: running\n  "), "\(result)")
        try plan("-", "--format", "switch").expect(
            1, errors: "the flags in standard input are invalid")
    }

    @Test func itPrintsTheVerdictAtATime() throws {
        let result = try plan(
            folder("plan.json"), "--format", "switch", "--at", "2097-03-01T12:00:00Z",
            "--time-zone", "Asia/Tokyo")
        #expect(
            result.output == """
                document: running
                  2097-03-01T21:00:00+09:00  running, open, 2 days left: source 'flags' plans maintenance from \
                2097-03-03T19:00:00+09:00 until 2097-03-03T20:00:00+09:00; 'Works'

                """)
        #expect(result.status == 0 && result.errors == "")
    }

    @Test func itPrintsEachChangeOfAConfiguredService() throws {
        let result = try plan(
            "--config", folder("killswitchd.toml"), "--service", "shop",
            "app=\(folder("app.json"))", "plan=\(folder("plan.json"))",
            "--at", "2097-03-01T12:00:00Z", "--until", "2098-03-01T12:00:00Z")
        #expect(
            result.output == """
                shop: running
                  2097-03-01T21:00:00+09:00  running, open, 2 days left: source 'plan' plans maintenance from \
                2097-03-03T19:00:00+09:00 until 2097-03-03T20:00:00+09:00; 'Works'
                  2097-03-03T19:00:00+09:00  maintenance, closed: maintenance planned by source 'plan' \
                lasts until 2097-03-03T20:00:00+09:00; 'Works'
                  2097-03-03T20:00:00+09:00  running, open: set by the flags of source 'app'
                  value   limit = 12

                """)
        #expect(result.status == 0 && result.errors == "")
    }

    @Test func silentSourcesMakeFlagsOld() throws {
        let result = try plan(
            "--config", folder("killswitchd.toml"), "--service", "shop", "--silent", "2d",
            "app=\(folder("app.json"))", "--at", "2097-03-01T12:00:00Z", "--json")
        #expect(
            result.errors.contains("source 'plan': the flags of this host are not known (")
                && result.errors.contains("): as if it never answered"))
        let service = try JSON.Value.parse(result.output).object?.objects("services").first
        let changes = try #require(service?["changes"]?.array)
        #expect(changes.map { $0.object?["reason"] } == ["unknown-open", "stale-closed"])
        #expect(changes.last?.object?["time"] == "2097-03-02T21:00:00+09:00")
        #expect(changes.first?.object?["values"] == ["limit": 12])
    }

    /// What a person wants to know before publishing: what stops, what would hold it, and what users see.
    @Test func itSaysWhatWouldStopAndWhatWouldHoldIt() throws {
        let daemon = try Daemon.running(
            """
            [limits]
            close_at_once = 1
            [guard.errors]
            url = "http://127.0.0.1:1/"
            [service.shop]
            source = "file:flags.json"
            format = "switch"
            drain = "30s"
            guard = "errors"
            units = ["t-plan.service"]
            [service.web]
            source = "file:flags.json"
            format = "switch"
            confirm_close = 2
            """, flags: #"{"state": "running"}"#)
        try daemon.waitFor("running", of: "web")
        try folder.write(
            #"""
            {"state": "maintenance", "title": "A | <b>", "message": "Back at noon",
                "rollout": [{"at": "2024-03-01T09:00:00Z", "percent": 100}]}
            """#, to: "new.json")
        let plan = { (more: [String]) in
            try daemon.control(
                ["plan", folder("new.json"), "--config", daemon.folder("killswitchd.toml")] + more)
        }
        let text = try plan([]).expect(0)
        for line in [
            "shop: now running; then maintenance and CLOSES at once, and no later change\n",
            "  maintenance, closed: set by the flags of source 'shop'; 'A | <b>'; 'Back at noon'\n",
            "  stops   t-plan.service (", "  holds   its units run on for 30s (drain)\n",
            "  holds   guard 'errors' is asked before each step of this host\n",
            "  holds   close_at_once = 1, and 2 services would close at once: those beyond it hold until ",
            "web: now running; then maintenance and CLOSES at once, and no later change\n",
            "  holds   it closes when 2 answers in a row say so (confirm_close)\n",
        ] { #expect(text.output.contains(line), "\(line)\(text.output)") }
        #expect(text.errors == "")
        // Nothing was changed, and nobody was asked.
        #expect(try daemon.member("state") == "\"running\"")
        try plan(["--ask-guards", "--service", "shop"]).expect(
            0, output: "holds   guard 'errors' does not pass now: ")
        let page = folder("page.html")
        let markdown = try plan(["--markdown", "--service", "shop", "--page", page]).expect(0)
        #expect(
            markdown.output.hasPrefix("### shop: now running; then maintenance and CLOSES"),
            "\(markdown.output)")
        #expect(markdown.output.contains(#"'A \| \<b\>'"#), "\(markdown.output)")
        #expect(try folder.text(of: "page.html").contains("A | &lt;b&gt;"))
        try plan(["--page", page]).expect(2, errors: "--page is of one service")
        let json = try JSON.Value.parse(try plan(["--json"]).expect(0).output).object
        let shop = try #require(json?.objects("services").first)
        #expect(shop["now"] == ["state": "running", "gate": "open"])
        #expect(shop.objects("units").first?["name"] == "t-plan.service")
        #expect(json?["refused"] == false)
        // Without a document: what the present flags lead to.
        try daemon.control("plan", "--config", daemon.folder("killswitchd.toml")).expect(
            0, output: "shop: now running; stays running, and no later change\n")
        // A document that hosts refuse leaves them as they are.
        try folder.write(#"{"state": "over"}"#, to: "new.json")
        try plan([]).expect(
            1,
            output:
                "shop: now running; the document is refused, and hosts keep the flags that they have\n",
            errors: "key 'state' is 'over'")
    }

    /// What a silent source leads to, and what is assumed. The present state is that of the daemon.
    @Test func aSilentSourceIsAnAssumption() throws {
        let daemon = try Daemon.running()
        let plan = try Program.run(
            try Programs.path(of: "killswitchctl"),
            ["plan", "--config", daemon.folder("killswitchd.toml"), "--silent", "2d"],
            environment: ["RUNTIME_DIRECTORY": daemon.folder("run")])
        plan.expect(
            0, output: "shop: now running; stays running, and no later change\n",
            "  assumes no source answers for 2d; max_stale is never\n")
        // Without the system's configuration the way out is named.
        try Programs.run("killswitchctl", ["plan", folder("plan.json")]).expect(
            78, errors: "give --config FILE, or --format FORMAT for a document alone")
    }

    /// Flags that another source has stored count for the plan too.
    @Test func storedFlagsOfOtherSourcesCount() throws {
        let daemon = try Daemon(Daemon.shop, flags: Daemon.flags("over")).start(waitingFor: "ended")
        try daemon.control(
            "plan", "--config", daemon.folder("killswitchd.toml"), "--state-directory",
            daemon.folder("state")
        ).expect(0, output: "shop: now ended; stays ended, and no later change\n")
    }

    @Test(arguments: [
        (nil, "bad.json': no such file"),
        ("{}", "key 'state' is missing"), ("", "the answer is empty"),
        ("<html>", "the answer is a web page, not JSON"),
        (#"{"state": "running",}"#, "not valid JSON"),
        (
            #"{"state": "over"}"#,
            "key 'state' is 'over', not a state; the states are running, countdown, maintenance, update-required and ended"
        ),
    ])
    func flagsThatAreNoOrderAreAFailure(_ flags: String?, _ problem: String) throws {
        if let flags { try folder.write(flags, to: "bad.json") }
        let result = try plan(folder("bad.json"), "--format", "switch")
        #expect(result.status == 1 && (flags != nil || result.output == ""))
        #expect(result.errors.contains(problem), "\(result.errors)")
    }

    /// The host refuses a document whose version is lower than the one in force, or missing.
    @Test func aVersionThatGoesBackwardsIsRefused() throws {
        let daemon = try Daemon(
            Daemon.shop.replacing("service-end", with: "switch"),
            flags: #"{"state": "running", "version": 7}"#
        ).start(waitingFor: "running")
        let plan = { (document: String) in
            try daemon.folder.write(document, to: "new.json")
            return try daemon.control(
                "plan", daemon.folder("new.json"), "--config", daemon.folder("killswitchd.toml"),
                "--state-directory", daemon.folder("state"))
        }
        try plan(#"{"state": "ended", "version": 8}"#).expect(0, output: "CLOSES at once")
        let refused = "the document is refused, and hosts keep the flags that they have"
        try plan(#"{"state": "ended", "version": 5}"#).expect(
            1, output: refused, errors: "key 'version' is 5, not 7 or more")
        try plan(#"{"state": "ended"}"#).expect(
            1, output: refused, errors: "key 'version' is missing")
    }

    /// Whoever types a guide publishes nothing that a host refuses, or that nobody reads.
    @Test func everyDocumentOfTheGuidesCanBePublished() throws {
        let guides = try Directory.list("\(Programs.project)/docs/guides")
        var count = 0
        for page in guides.map({ "docs/guides/\($0)" }) + ["README.md"] {
            let page = try Programs.text(of: page)
            let written = page.matches(of: /(?s)<<'END'\n(\{.*?\})\nEND\n/).map(\.1)
            let echoed = page.matches(of: /echo '(\{[^']*\})'/).map(\.1)
            for document in written + echoed {
                count += 1
                try folder.write(String(document), to: "guide.json")
                let plan = try plan(folder("guide.json"), "--format", "switch", "--strict")
                // One guide shows what is said of a misspelt member.
                let isMisspelt = document.contains("mesage")
                #expect(plan.status == (isMisspelt ? 1 : 0), "\(document): \(plan)")
                #expect(plan.errors.isEmpty != isMisspelt && plan.output.hasPrefix("document: "))
            }
        }
        #expect(count >= 18)
    }

    @Test func anUnknownServiceIsAnErrorThatNamesTheConfiguredOnes() throws {
        let result = try plan(
            "--config", folder("killswitchd.toml"), "--service", "web", "x.json")
        #expect(result.status == 4)
        #expect(result.errors == "killswitchctl: no such service 'web'; known: shop\n")
    }

    @Test func aWrongConfigurationIsReportedWithFileAndLine() throws {
        try folder.write("[service.shop]\nsource = 1", to: "killswitchd.toml")
        let result = try plan(
            "--config", folder("killswitchd.toml"), "--service", "shop", "x.json")
        #expect(result.status == 78)
        #expect(result.errors.contains("killswitchd.toml:2:10: "))
    }

    @Test func aBooleanAndAWordAreSimulated() throws {
        try folder.write("on\n", to: "word")
        try plan(folder("word"), "--format", "boolean", "--closed-when", "true")
            .expect(0, output: "  maintenance, closed: ")
        try plan(
            folder("word"), "--format", "boolean", "--closed-when", "false"
        ).expect(0, output: "  running, open: ")
        try folder.write("ended\n", to: "word")
        try plan(folder("word"), "--format", "switch").expect(
            0, output: "  ended, closed: ")
        try plan(folder("word"), "--format", "status").expect(
            1, errors: "the answer is not valid JSON")
    }

    /// Each unknown member is named with its place, and once; `--strict` fails for it.
    @Test func unknownMembersAreNamed() throws {
        try folder.write(
            #"{"state": "running", "end_at": "2030-01-01T00:00:00Z", "$id": 1, "x-by": "me", "limit": 1, "windows": [{"from": "2097-03-03T10:00:00Z", "until": "2097-03-03T11:00:00Z", "titel": "T"}]}"#,
            to: "slip.json")
        let planned = ["plan", folder("slip.json"), "--format", "switch"]
        let loose = try Programs.run("killswitchctl", planned).expect(0)
        #expect(
            loose.errors == """
                killswitchctl: source 'flags': key 'end_at' is unknown and ignored; did you mean 'ends_at'?
                killswitchctl: key 'limit' is unknown and ignored
                killswitchctl: key 'windows[0].titel' is unknown and ignored

                """, "\(loose.errors)")
        let strict = try Programs.run("killswitchctl", planned + ["--strict", "--json"]).expect(1)
        #expect(strict.output.contains("windows[0].titel"))
        try folder.write(#"{"state": "running", "$id": 1, "x-by": "me"}"#, to: "slip.json")
        let clean = try Programs.run("killswitchctl", planned + ["--strict"]).expect(0)
        #expect(clean.errors == "")
    }

    /// What another service of the configuration reads is known, although it looks like a slip.
    @Test func whatTheConfigurationReadsIsKnown() throws {
        try folder.write(
            #"{"service_end": "no", "limit": "12", "title": 1, "service_ends": "1", "more": 1}"#,
            to: "app.json")
        let planned = [
            "plan", "--config", folder("killswitchd.toml"), "--service", "shop", "--strict",
            "app=\(folder("app.json"))",
        ]
        let before = try Programs.run("killswitchctl", planned).expect(1)
        for key in ["title", "service_ends", "more"] {
            #expect(
                before.errors.contains("source 'app': key '\(key)' is unknown"), "\(before.errors)")
        }
        #expect(!before.errors.contains("'limit'"))
        try folder.write(
            Self.configuration + """

                [service.mail]
                source = "app"
                format = "boolean"
                key = "service_ends"
                closed_when = true
                variant = { key = "title", map = { "1" = "a" }, default = "b" }
                [service.mail.values]
                more = { key = "more", type = "integer" }
                """, to: "killswitchd.toml")
        let after = try Programs.run("killswitchctl", planned).expect(0)
        #expect(!after.errors.contains("unknown"), "\(after.errors)")
    }

    @Test(arguments: [
        ["--format", "switch"], ["x", "y", "--format", "switch"],
        ["x", "--format", "boolean"],
        ["x", "--format", "boolean", "--closed-when", "yes"],
        ["x", "--format", "switch", "--closed-when", "true"],
        ["x", "--format", "status", "--closed-state", "ended"],
        ["x", "--format", "switch", "--service", "shop"],
        ["x", "--format", "switch", "--silent", "2d"], ["x", "--format", "switch", "--ask-guards"],
        ["x", "--format", "switch", "--json", "--markdown"],
        ["x", "--service", "shop", "--key", "k"],
        ["x", "--format", "toggle"],
        ["x", "--format", "switch", "--at", "tomorrow"],
        ["x", "--format", "switch", "--countdown-key", "k"],
        ["x", "--format", "switch", "--time-zone", "Mars/Base"],
        [
            "x", "--format", "switch", "--at", "2097-03-01T12:00:00Z",
            "--until", "2097-03-01T11:00:00Z",
        ],
    ])
    func aWrongCommandLineIsAUsageError(_ arguments: [String]) throws {
        let result = try Programs.run("killswitchctl", ["plan"] + arguments).expect(2)
        #expect(result.output == "" && !result.errors.isEmpty)
    }
}
