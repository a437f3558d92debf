import Support
import Testing

extension InATerminal {
    /// `killswitchctl run` at a terminal, which belongs to the command while it runs.
    @Suite(.timeLimit(.minutes(5))) struct RunInATerminalTests {
        @Test func atATerminalCtrlCAndCtrlZReachTheCommand() async throws {
            let daemon = try Daemon.running()
            let terminal = try await RealTerminal(daemon)
            try terminal.type(
                "killswitchctl run shop -- sh -c 'trap \"echo got it; exit 9\" INT; "
                    + "trap \"echo goes on\" CONT; echo ready; "
                    + "while :; do sleep 0.01; done'; echo \"status:$?\"")
            try await terminal.wait(until: "\nready")
            try terminal.press("C-z")
            try await terminal.wait(until: "Stopped")
            try await terminal.waitForPrompt()
            try terminal.type("fg; echo \"status:$?\"")
            // The job has the terminal again, so that Ctrl-C reaches it.
            try await terminal.wait(until: "\ngoes on")
            try await terminal.interrupt()
            #expect(try terminal.screen.matches(of: /got it\n/).count == 1)
            // killswitchctl ends by the signal itself, so that the shell knows of the interrupt.
            try terminal.type("clear; killswitchctl run shop -- sleep 61.5; echo \"sleep:$?\"")
            try daemon.waitUntil("it sleeps") {
                try Program.run("/usr/bin/pgrep", ["-x", "-f", "sleep 61.5"]).status == 0
            }
            try await terminal.interrupt()
            try terminal.type("echo \"after:$?\"")
            try await terminal.wait(until: "\nafter:130")
            #expect(try !terminal.screen.contains("\nsleep:"))
        }

        @Test func theCommandReadsFromTheTerminal() async throws {
            let daemon = try Daemon.running()
            let terminal = try await RealTerminal(daemon)
            try terminal.type("killswitchctl run shop -- sh -c 'read word; echo \"read $word\"'")
            try terminal.type("hello")
            try await terminal.wait(until: "read hello")
        }

        @Test func atATerminalRunSaysWhatItWaitsFor() async throws {
            let daemon = try Daemon(flags: Daemon.flags("over"))
            try daemon.start(waitingFor: "ended")
            let terminal = try await RealTerminal(daemon)
            try terminal.type("killswitchctl run shop -- echo hello")
            try await terminal.wait(
                until: "killswitchctl: waiting until 'shop' is open: it is ended")
            try daemon.setFlags("no")
            try await terminal.wait(until: "\nhello")
        }
    }
}
