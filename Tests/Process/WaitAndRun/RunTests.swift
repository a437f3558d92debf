import Files
import Glibc
import Support
import Testing

/// `killswitchctl run`: it waits for the gate, runs the command once, and stops it when the gate closes.
@Suite(.timeLimit(.minutes(5))) struct RunTests {
    private func run(_ daemon: Daemon, _ options: String..., script: String) throws -> Program {
        try daemon.startControl(
            ["run", "shop"] + options + ["--", "/bin/sh", "-c", script, "sh", daemon.folder.path])
    }

    private func ended() throws -> Daemon {
        return try Daemon(flags: Daemon.flags("over")).start(waitingFor: "ended")
    }

    @Test func aCommandIsHeldUntilThereIsADaemonThatOpensAndRunsOnce() async throws {
        let daemon = try Daemon(flags: Daemon.flags("over"))
        let program = try run(daemon, script: "echo ran >> $1/ran; exit 7")
        try daemon.start(waitingFor: "ended")
        #expect(try !File.exists(daemon.folder("ran")))
        try daemon.setFlags("no")
        #expect(try await program.end() == 7)
        #expect(try daemon.folder.text(of: "ran") == "ran\n")
        #expect(try program.errors == "")
    }

    @Test func runNeedsNoRunningDaemon() async throws {
        let daemon = try Daemon.decided()
        let program = try run(daemon, script: "echo out; echo err >&2")
        #expect(try await program.end() == 0)
        #expect(try program.output == "out\n" && program.errors == "err\n")
    }

    @Test func whenTheGateClosesTheCommandIsAskedToEnd() async throws {
        let daemon = try Daemon.running()
        let program = try run(
            daemon,
            script: "trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.01; done")
        try daemon.waitUntil("it runs") { try program.output == "ready\n" }
        try daemon.setFlags("over")
        #expect(try await program.end() == 3)
        #expect(try program.output == "ready\nasked\n")
        #expect(
            try program.errors
                == "killswitchctl: 'shop' is ended, no longer open; stopping the command\n")
    }

    @Test func aCommandThatIgnoresSIGTERMIsKilledAfterTheGracePeriod() async throws {
        let daemon = try Daemon.running()
        let program = try run(
            daemon, "--grace", "200ms", "--quiet",
            script: "trap '' TERM; echo ready; while :; do sleep 0.01; done")
        try daemon.waitUntil("it runs") { try program.output == "ready\n" }
        try daemon.setFlags("over")
        #expect(try await program.end() == 128 + SIGKILL)
        #expect(try program.errors == "")
    }

    @Test func aSuspendedCommandEndsToo() async throws {
        let daemon = try Daemon.running()
        let program = try run(daemon, script: "echo $$; kill -STOP $$; echo woken; exec sleep 60")
        try daemon.waitUntil("it runs") { try !program.output.isEmpty }
        try daemon.setFlags("over")
        #expect(try await program.end() == 128 + SIGTERM)
    }

    @Test func aGateThatReopensAfterTheStopStartsNothing() async throws {
        let daemon = try Daemon.running()
        let program = try run(
            daemon,
            script: """
                echo started >> $1/starts
                trap 'echo asked; while ! test -e $1/reopened; do sleep 0.01; done; exit 4' TERM
                echo ready; while :; do sleep 0.01; done
                """)
        try daemon.waitUntil("it runs") { try program.output == "ready\n" }
        try daemon.setFlags("over")
        try daemon.waitUntil("it was asked") { try program.output.contains("asked") }
        try daemon.setFlags("no")
        try daemon.waitFor("running")
        try daemon.folder.write("", to: "reopened")
        #expect(try await program.end() == 4)
        #expect(try daemon.folder.text(of: "starts") == "started\n")
    }

    @Test func commandsThatEndAtOnceAllEndWhileTheGateFlips() async throws {
        let daemon = try Daemon.running()
        let programs = try (0..<20).map { number in
            try run(daemon, "--quiet", script: "echo \(number) >> $1/ran")
        }
        for flips in 0..<6 {
            try daemon.setFlags(flips % 2 == 0 ? "over" : "no")
            try daemon.waitFor(flips % 2 == 0 ? "ended" : "running")
        }
        // Each command has run or was stopped right after its start. None hangs, and none ran twice.
        for program in programs { #expect([0, 128 + SIGTERM].contains(try await program.end())) }
        let ran = try daemon.folder.text(of: "ran").split(separator: "\n")
        #expect(ran.count == Set(ran).count)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT])
    func aSignalIsPassedToTheCommandOnce(_ signal: Int32) async throws {
        let daemon = try Daemon.running()
        let program = try run(
            daemon,
            script: """
                for s in TERM INT HUP USR1 USR2 QUIT; do trap "echo got $s; exit 5" $s; done
                echo ready; while :; do sleep 0.01; done
                """)
        try daemon.waitUntil("it runs") { try program.output == "ready\n" }
        program.send(signal)
        #expect(try await program.end() == 5)
        let names: [Int32: String] = [
            SIGTERM: "TERM", SIGINT: "INT", SIGHUP: "HUP", SIGUSR1: "USR1", SIGUSR2: "USR2",
            SIGQUIT: "QUIT",
        ]
        #expect(try program.output == "ready\ngot \(names[signal] ?? "")\n")
    }

    @Test func aSignalThatEndsTheCommandEndsKillswitchctlToo() async throws {
        let daemon = try Daemon.running()
        let program = try run(daemon, script: "kill -SEGV $$")
        #expect(try await program.end() == 128 + SIGSEGV)
    }

    @Test func aSignalBeforeTheStartEndsTheWait() async throws {
        let daemon = try ended()
        let program = try run(daemon, script: "echo ran > $1/ran")
        program.send(SIGTERM)
        #expect(try await program.end() == 128 + SIGTERM)
        #expect(try !File.exists(daemon.folder("ran")))
    }

    @Test func aKilledDaemonStopsNoCommand() async throws {
        let daemon = try Daemon.running()
        let program = try run(
            daemon, script: "echo ready; while ! test -e $1/go; do sleep 0.01; done; exit 6")
        try daemon.waitUntil("it runs") { try program.output == "ready\n" }
        try daemon.stop(SIGKILL)
        // The undecided state of the next daemon is no order to stop.
        try File.remove(daemon.folder("flags.json"))
        try File.remove(daemon.folder("state/flags/shop.json"))
        try File.remove(daemon.folder("state/services.json"))
        try daemon.start(waitingFor: "undecided")
        try daemon.folder.write("", to: "go")
        #expect(try await program.end() == 6)
    }

    @Test func theCommandIsStoppedWhenTheStateItNeedsEnds() async throws {
        let daemon = try Daemon.running()
        let program = try run(daemon, "--for", "running", script: "echo ready; exec sleep 60")
        try daemon.waitUntil("it runs") { try program.output == "ready\n" }
        try daemon.folder.write(#"{"service_end": "countdown"}"#, to: "flags.json")
        #expect(try await program.end() == 128 + SIGTERM)
        #expect(try program.errors.contains("'shop' is countdown, no longer running"))
    }

    @Test func aCommandThatCannotBeRunHasTheExitStatusOfAShell() throws {
        let daemon = try Daemon.running()
        let none = try daemon.control(["run", "shop", "--", "no-such-command"]).expect(127)
        #expect(none.errors == "killswitchctl: run 'no-such-command': no such file or directory\n")
        try daemon.control(["run", "shop", "--", "/etc/passwd"]).expect(126)
        try daemon.control("run", "shop").expect(2, errors: "killswitchctl run shop -- COMMAND")
    }

    @Test func aWaitEndsAtItsTimeoutOrForAnUnknownService() async throws {
        let daemon = try ended()
        let late = try run(daemon, "--timeout", "50ms", script: "exit 0")
        #expect(try await late.end() == 124)
        #expect(try late.errors == "killswitchctl: 'shop' is not open yet: it is ended\n")
        try daemon.control(["run", "shpo", "--", "true"]).expect(4)
    }
}

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
            let daemon = try Daemon(flags: Daemon.flags("over")).start(waitingFor: "ended")
            let terminal = try await RealTerminal(daemon)
            try terminal.type("killswitchctl run shop -- echo hello")
            try await terminal.wait(
                until: "killswitchctl: waiting until 'shop' is open: it is ended")
            try daemon.setFlags("no")
            try await terminal.wait(until: "\nhello")
        }
    }
}
