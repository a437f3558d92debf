import Support
import Testing

/// A wrong command line: one style of messages for all commands, found by the parser or by us.
@Suite(.timeLimit(.minutes(5))) struct UsageErrorTests {
    /// Every command with arguments that it accepts, as far as the parser sees.
    static let commands = [
        "status", "is-open shop", "get shop state", "explain shop",
        "plan f --format status", "fleet shop", "history",
        "wait shop --for open", "watch", "run shop -- true",
        "close shop --state ended --reason x --for 1h", "release shop", "refresh", "activate",
        "reload",
        "forget app", "confirm shop", "sign f --key k", "verify f --signers s --audience a",
        "attach shop web", "detach shop web", "units", "drill shop", "open shop --without-daemon",
    ]

    private func check(_ words: [String], expected text: String, _ command: String?) throws {
        let result = try Programs.run("killswitchctl", words)
        #expect(result.status == 2 && result.output == "", "\(words)")
        let lines = result.errors.split(separator: "\n")
        #expect(lines.first?.hasPrefix("killswitchctl: \(text)") == true, "\(result.errors)")
        #expect(!result.errors.contains("Error:"))
        let usage = ["Usage: killswitchctl", command].compactMap(\.self).joined(separator: " ")
        #expect(lines.contains { $0.hasPrefix(usage) }, "\(result.errors)")
        #expect(lines.last?.hasPrefix("  See 'killswitchctl ") == true)
    }

    @Test func aNameWithASpaceIsNamed() throws {
        try check(
            ["is-open", "My Shop"], expected: "the value 'My Shop' is invalid for '<service>'",
            "is-open")
    }

    @Test(arguments: commands) func anUnknownOptionIsNamed(_ line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        try check(
            [words[0], "--nonsense"] + words.dropFirst(), expected: "unknown option '--nonsense'",
            words[0])
    }

    @Test(arguments: [
        ("is-open", "missing expected argument '<service> ...'"),
        ("get shop", "missing expected argument '<field>'"),
        ("wait shop", "missing expected argument '--for <condition>'"),
        ("close shop --state ended --for 1h", "no reason given: say why, such as -m 'disk swap'"),
        ("close shop", "no reason and no end given: add both, such as -m"),
        ("open shop -m x", "no end given: add --for DURATION, such as --for 2h, or --until TIME"),
        ("open shop -m x --for 1h --until released", "give --for or --until, not both"),
        ("open shop --without-daemon -m x", "remove --reason, --for, --until and --wait"),
        ("open --without-daemon", "name the services, or give --all"),
        ("release", "name the services, or give --all"),
        ("confirm", "name the services, or give --all"),
        ("run shop", "no command; give it after '--'"),
        ("forget", "missing expected argument '<source>'"),
        ("attach", "name a service and its units"),
        ("status --json=1", "the option '--json' does not take any value"),
        (
            "fleet shop --for decided",
            "the value 'decided' is invalid for '--for <condition>': there are: "
        ),
        ("fleet shop --timeout 75s", "--timeout needs --wait"),
        ("fleet shop --at-least most", "the value 'most' is invalid for '--at-least <share>'"),
        (
            "fleet shop --prometheus http://a --reports b",
            "give one of --prometheus, --etcd and --reports"
        ),
        (
            "fleet shop --prometheus here:9090",
            "the value 'here:9090' is invalid for '--prometheus <url>'"
        ),
        (
            "fleet shop --prometheus http://me:secret@a",
            "the value 'http://…@a' is invalid for '--prometheus <url>': write it without user"
        ),
        ("wait shop --for sideways", "the value 'sideways' is invalid for '--for <condition>'"),
        (
            "wait shop --for open --timeout soon",
            "the value 'soon' is invalid for '--timeout <duration>'"
        ),
        ("drill shop --for soon", "the value 'soon' is invalid for '--for <duration>'"),
        ("is-open Shop", "the value 'Shop' is invalid for '<service>'"),
        ("reload now", "unexpected argument 'now'"),
    ]) func aMissingOrWrongArgumentIsNamed(_ line: String, _ text: String) throws {
        let words = line.split(separator: " ").map(String.init)
        try check(words, expected: text, words[0])
    }

    @Test(arguments: [
        ("stauts", "'stauts'; did you mean 'status'?"),
        ("help stauts", "'stauts'; did you mean 'status'?"),
        ("nonsense", "'nonsense'; there are: "),
        ("force", "'force'; it is 'open' or 'close'"), ("start", "'start'; it is 'open'"),
        ("unlock shop", "'unlock'; it is 'open --without-daemon'"),
        ("stop shop", "'stop'; it is 'close'"), ("ls", "'ls'; it is 'status'"),
        ("why shop", "'why'; it is 'explain'"), ("logs", "'logs'; it is 'history'"),
        ("rollout f", "'rollout'; it is 'plan'"), ("simulate", "'simulate'; it is 'plan'"),
    ]) func anUnknownCommandIsNamed(_ line: String, _ text: String) throws {
        let words = line.split(separator: " ").map(String.init)
        try check(words, expected: "no such command \(text)", nil)
    }

    @Test func anUnknownOptionBeforeTheCommandIsNamed() throws {
        try check(["--nonsense"], expected: "unknown option '--nonsense'", nil)
    }
}

extension InATerminal {

    /// The completions of three shells, as somebody presses the tab key.
    @Suite(.timeLimit(.minutes(5))) struct CompletionTests {
        struct Shell: Sendable, CustomTestStringConvertible {
            let name: String
            let start: String
            /// Loads the completions from the file `completions` in the home folder.
            let load: String
            var testDescription: String { name }
        }

        static let shells = [
            Shell(name: "bash", start: "/bin/bash --norc --noprofile", load: ". $HOME/completions"),
            Shell(
                name: "zsh", start: "/usr/bin/zsh -f",
                load: "autoload -U compinit; compinit -u; . $HOME/completions; "
                    + "compdef _killswitchctl killswitchctl"),
            Shell(
                name: "fish", start: "/usr/bin/fish --private",
                load: "function fish_prompt; echo '$ '; end; source $HOME/completions"),
        ]

        @Test(arguments: shells) func completionOffersCommandsServicesSourcesAndStates(
            _ shell: Shell
        ) async throws {
            let daemon = try Daemon(
                """
                [source.flag-file]
                type = "file"
                path = "flags.json"
                [service.workshop]
                source = "flag-file"
                format = "service-end"
                """)
            try daemon.start()
            try daemon.waitFor("running", of: "workshop")
            let script = try Program.run(
                try Programs.path(of: "killswitchctl"),
                ["--generate-completion-script", shell.name]
            ).expect(0)
            try daemon.folder.write(script.output, to: "completions")
            let terminal = try await RealTerminal(
                daemon, shell: shell.start, columns: 200, ["HOME": daemon.folder.path])
            try terminal.type(shell.load)
            try terminal.type("echo load''ed")
            try await terminal.wait(until: "loaded\n")
            try await terminal.waitForPrompt()
            for (typed, completed) in [
                ("killswitchctl is-o", "is-open"), ("killswitchctl is-open wo", "is-open workshop"),
                ("killswitchctl refresh flag", "refresh flag-file"),
                ("killswitchctl close workshop --state main", "--state maintenance"),
                ("killswitchctl wait workshop --for dec", "--for decided"),
                ("killswitchctl get workshop days", "workshop days_left"),
                ("killswitchctl plan --format mainten", "--format maintenance"),
                ("killswitchctl run workshop -- killswitchc", "-- killswitchctl"),
                (
                    "killswitchctl attach workshop systemd-journald.serv",
                    "workshop systemd-journald.service"
                ),
            ] {
                try terminal.complete(typed)
                try await terminal.wait(until: completed)
                try await terminal.eraseLine()
            }
            // The runtime directory has other files too, whose names were offered as services.
            try terminal.clear()
            try terminal.complete("killswitchctl close workshop --state ")
            if shell.name == "bash" { try terminal.press("Tab") }
            try await terminal.wait(until: "update-required")
            #expect(try !terminal.screen.contains("motd"))
            #expect(try !terminal.screen.contains("alive"))
        }
    }
}
