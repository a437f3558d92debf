import Support
import Testing

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
            Shell(
                name: "bash", start: "/bin/bash --norc --noprofile", load: ". $HOME/completions"),
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
                ("killswitchctl force workshop main", "workshop maintenance"),
                ("killswitchctl wait workshop --for dec", "--for decided"),
                ("killswitchctl force workshop clos", "workshop closed"),
                ("killswitchctl get workshop days", "workshop days_left"),
                ("killswitchctl simulate --format mainten", "--format maintenance"),
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
            try terminal.complete("killswitchctl force ")
            if shell.name == "bash" { try terminal.press("Tab") }
            try await terminal.wait(until: "update-required")
            #expect(try !terminal.screen.contains("motd"))
            #expect(try !terminal.screen.contains("alive"))
        }
    }
}
