import CivilTime
import EventLoop
import Support
import Testing

/// Tests in a terminal run one after the other, because each look at the screen starts a program.
@Suite(.serialized) enum InATerminal {}

extension InATerminal {

    /// Each command as somebody types it: in a terminal of 80 columns, with NO_COLOR, and into a pipe.
    @Suite(.timeLimit(.minutes(5))) struct TerminalTests {
        struct Case: Sendable, CustomTestStringConvertible {
            let command: String
            let shows: String
            var status = 0
            var testDescription: String { command }
        }

        static let cases = [
            Case(
                command: "status", shows: "SERVICE  STATE    GATE  DAYS  AGE  UNITS  REASON"),
            Case(command: "is-open shop", shows: "shop: open (running)"),
            Case(command: "get shop reason", shows: "flags"),
            Case(command: "wait shop --for open --timeout 5s", shows: ""),
            Case(command: "run shop -- echo hello", shows: "hello"),
            Case(
                command: "run shop --for closed --timeout 100ms -- echo hello",
                shows: "'shop' is not closed yet: it is running", status: 124),
            Case(
                command: "close shop --for 1h --reason 'disk swap'",
                shows: "shop: forced to maintenance by "),
            Case(command: "release shop", shows: "shop: it was not forced, nothing has changed"),
            Case(command: "refresh", shows: "source 'shop': already read "),
            Case(command: "activate", shows: "no flags were waiting, nothing has changed"),
            Case(command: "reload", shows: "the configuration is in force: 1 service (shop)"),
            Case(command: "forget shop", shows: "source 'shop': its stored flags"),
            Case(
                command: "history --directory /nowhere",
                shows: "open the journal in '/nowhere': no such file or directory", status: 1),
            Case(
                command: "stauts", shows: "no such command 'stauts'; did you mean 'status'?",
                status: 2),
        ]

        @Test(arguments: cases) func outputIsTheSameAtATerminalAndInAPipe(_ example: Case)
            async throws
        {
            let daemon = try Daemon.answering()
            let terminal = try await RealTerminal(daemon)
            for (setting, pipe) in [
                ("", ""), ("NO_COLOR=1 ", ""), ("TERM=dumb ", ""), ("", " 2>&1 | cat"),
            ] {
                try await terminal.waitForPrompt()
                try terminal.clear()
                try terminal.type(
                    "\(setting)killswitchctl \(example.command)\(pipe); echo \"status:$?\"")
                let status = pipe.isEmpty ? example.status : 0
                try await terminal.wait(until: "status:\(status)\n")
                let screen = try terminal.screen
                // The terminal breaks long lines, so the text is compared without line breaks.
                #expect(screen.replacing("\n", with: "").contains(example.shows), "\(screen)")
                let isColored = try terminal.coloredScreen.contains("\u{1B}[3")
                #expect(
                    isColored == (example.command == "status" && setting.isEmpty && pipe.isEmpty))
                if example.command.hasPrefix("close") { _ = try daemon.control("release", "shop") }
            }
        }

        /// A unit that has failed behind an open gate, or is not up yet: the row is not green.
        @Test func aRowWithAUnitThatIsNotAsWantedIsNotGreen() async throws {
            let daemon = try Daemon.answering()
            let terminal = try await RealTerminal(daemon)
            for (problems, color) in [("", 33), (#""unit 'a': it has failed""#, 31)] {
                let gate =
                    #"{"wanted": "open", "actual": "open", "units": {"up": 0, "of": 1, "problems": "#
                try daemon.folder.write("\(gate)[\(problems)]}}", to: "run/shop/gate.json")
                let unit = #"{"name": "a", "wanted": true, "as_wanted": false, "problem": null}"#
                try daemon.folder.write("[\(unit)]", to: "run/shop/units.json")
                try await terminal.waitForPrompt()
                try terminal.clear()
                try terminal.type("killswitchctl status; echo \"status:$?\"")
                try await terminal.wait(until: "status:0\n")
                let colored = try terminal.coloredScreen
                #expect(colored.contains("\u{1B}[\(color)mshop "), "\(colored)")
                #expect(colored.contains(" 0/1 "), "\(colored)")
            }
        }

        @Test func anOrderAsksForWhatIsMissing() async throws {
            let daemon = try Daemon.answering()
            let terminal = try await RealTerminal(daemon, columns: 150)
            try terminal.type("killswitchctl close shop; echo \"status:$?\"")
            try await terminal.wait(until: "shop is running: ")
            try await terminal.wait(until: "Why, for status and the journal:")
            try terminal.type("")
            try await terminal.wait(until: "--reason is empty")
            try terminal.type("disk swap")
            try await terminal.wait(until: "For how long, such as 2h;")
            try terminal.type("soon")
            try await terminal.wait(until: "write how long, such as 2h, a time like")
            try terminal.type("1h")
            try await terminal.wait(
                until: "shop closes (maintenance) for 1h on this host, whatever the flags say; then"
            )
            try await terminal.wait(until: "Enter gives the order")
            #expect(try daemon.member("state") == "\"running\"")
            // Any other answer orders nothing.
            try terminal.type("no")
            try await terminal.wait(until: "nothing was ordered")
            try await terminal.wait(until: "status:1")
            #expect(try daemon.member("state") == "\"running\"")
            try terminal.clear()
            try terminal.type(
                "killswitchctl close shop -m 'disk swap'; echo \"status:$?\"")
            try await terminal.wait(until: "For how long, such as 2h;")
            try terminal.type("2020-01-01T00:00:00Z")
            try await terminal.wait(until: "is past already")
            try terminal.type("1h")
            try await terminal.wait(until: "Enter gives the order")
            try terminal.type("")
            try await terminal.wait(until: "status:0")
            let override = try #require(try daemon.member("override"))
            #expect(override.contains("disk swap"), "\(override)")
            // With the end alone it asks for the reason alone, and Ctrl-C leaves everything as it is.
            try terminal.clear()
            try terminal.type("killswitchctl open shop --until released; echo \"status:$?\"")
            try await terminal.wait(until: "Why, for status and the journal:")
            try await terminal.interrupt()
            try terminal.type("echo \"after:$?\"")
            try await terminal.wait(until: "\nafter:130")
            #expect(try daemon.member("state") == "\"maintenance\"")
        }

        /// A wait shows what it waits for to whoever looks at it: not in the background, and not if it has to be quiet.
        @Test func aWaitShowsItsProgressInTheForegroundAlone() async throws {
            let daemon = try Daemon.answering()
            let terminal = try await RealTerminal(daemon)
            let wait = "killswitchctl wait shop --for closed --timeout 2500ms"
            try terminal.type(
                "killswitchctl run -q shop --for closed --timeout 2500ms -- true; echo \"a:$?\"")
            try await terminal.wait(until: "\na:124")
            #expect(try !terminal.screen.contains("waiting 1 s"))
            // With 'stty tostop' a background job that writes would be stopped until somebody fetches it.
            try terminal.type("\(wait) & sleep 2; echo b:$((40 + 2))")
            try await terminal.wait(until: "b:42")
            #expect(try !terminal.screen.contains("waiting 1 s"))
            try terminal.type("wait; echo c:$((40 + 2))")
            try await terminal.wait(until: "c:42")
            try terminal.clear()
            try terminal.type("killswitchctl wait shop --for closed --timeout 10s")
            try await terminal.wait(until: " s: it is running")
            try await terminal.wait(until: "'shop' is not closed yet: it is running")
            let screen = try terminal.screen
            #expect(!screen.contains(" s: it is running"), "\(screen)")
        }

        @Test func watchGoesOnUntilItIsInterrupted() async throws {
            let daemon = try Daemon.answering()
            let terminal = try await RealTerminal(daemon)
            try terminal.type("killswitchctl watch; echo \"status:$?\"")
            try await terminal.wait(until: " shop running: ")
            try daemon.control("close", "shop", "--state", "ended", "--reason", "x", "--for", "1h")
                .expect(0)
            try await terminal.wait(until: " shop ended: ")
            try await terminal.interrupt()
            try terminal.type("echo \"after:$?\"")
            try await terminal.wait(until: "\nafter:130")
        }

        @Test func everyHelpFitsTheTerminalAndHasAnExample() async throws {
            let commands = [
                "", "status", "is-open", "get", "wait", "watch", "explain", "plan", "history",
                "run",
                "open", "close", "release", "refresh", "activate", "reload", "forget",
            ]
            let terminal = try await RealTerminal(try Daemon())
            for command in commands {
                try await terminal.waitForPrompt()
                try terminal.clear()
                try terminal.type("killswitchctl \(command) --help; echo \"status:$?\"")
                try await terminal.wait(until: "status:0\n")
                #expect(try terminal.screen.contains("example: killswitchctl"))
            }
        }

        @Test func theTableFitsTheTerminalWithLongNamesAndTimes() async throws {
            let long = String(repeating: "service-", count: 7) + "long"
            let daemon = try Daemon(
                Daemon.shop + "\n" + Daemon.shop.replacing("service.shop", with: "service.\(long)"),
                flags: #"{"service_end": "countdown", "service_countdown": "2099-12-31T00:00:00Z"}"#
            )
            try daemon.start()
            try daemon.waitFor("countdown", of: long)
            try daemon.waitUntilItAnswers()
            #expect(
                try daemon.control(
                    "close", long, "--state", "update-required", "--for", "1h", "--reason",
                    "an old one"
                ).status == 0)
            let unit = #"{"name": "a", "wanted": null, "problem": null, "took_ms": 1234567890123}"#
            try daemon.folder.write("[\(unit)]", to: "run/\(long)/units.json")
            let terminal = try await RealTerminal(daemon, ["NO_COLOR": "1"])
            try terminal.type("killswitchctl status; echo \"status:$?\"")
            try await terminal.wait(until: "status:0\n")
            let lines = try terminal.screen.split(separator: "\n").dropFirst()
            let table = lines.prefix(3)
            #expect(table.allSatisfy { $0.count <= 80 })
            #expect(table.first?.hasPrefix("SERVICE ") == true)
            #expect(table.contains { $0.contains(#/^servic[a-z-]*….* update-required /#) })
            #expect(table.contains { $0.contains("  1/1 1234567890123ms  over") })
            // The terminal breaks the line below the table.
            let rest = lines.joined().filter { $0 != " " }
            #expect(rest.contains("forced by \(ownUser) until ".filter { $0 != " " }))
            // Into a pipe nothing is cut.
            #expect(try daemon.control("status").output.contains("\(long)  update-required"))
        }

        /// Cut at the end, both names would be the same.
        @Test func namesWithTheSameBeginningAreCutInTheMiddle() async throws {
            let stem = String(repeating: "service-", count: 6)
            let names = ["\(stem)east", "\(stem)west"]
            let daemon = try Daemon(
                names.map { Daemon.shop.replacing("service.shop", with: "service.\($0)") }
                    .joined(separator: "\n"))
            #expect(try daemon.run("--once").status == 0)
            let terminal = try await RealTerminal(daemon, ["NO_COLOR": "1"])
            try terminal.type("killswitchctl status; echo \"status:$?\"")
            try await terminal.wait(until: "status:3\n")
            let table = try terminal.screen.split(separator: "\n").filter { $0.hasPrefix("serv") }
            #expect(table.count == 2 && table.allSatisfy { $0.count <= 80 })
            for name in ["east", "west"] {
                #expect(table.contains { $0.contains("…") && $0.contains("\(name)  running") })
            }
        }

        @Test func theLastDayHasHoursAndMinutes() throws {
            let end = EventLoop.wallClock + .seconds(5 * 3600 + 30 * 60 + 30)
            let daemon = try Daemon(
                flags: """
                    {"service_end": "countdown", "service_countdown": "\(Zone.utc.rfc3339(end))"}
                    """)
            #expect(try daemon.run("--once").status == 0)
            #expect(try daemon.control("status").output.contains("  open  5h 30m  "))
        }
    }
}
