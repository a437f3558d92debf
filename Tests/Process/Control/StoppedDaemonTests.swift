import Glibc
import JSON
import Support
import Testing

/// Commands against a daemon that a signal has stopped: it accepts connections, and answers nothing.
@Suite(.timeLimit(.minutes(5))) struct StoppedDaemonTests {
    private func stopped() throws -> Daemon {
        let daemon = try Daemon.running()
        try daemon.waitUntilItAnswers()
        daemon.program?.send(SIGSTOP)
        return daemon
    }

    /// It waited without a word, for ever.
    @Test func anOrderFailsAfterTenSecondsAndNamesTheProcess() throws {
        let daemon = try stopped()
        let process = try #require(daemon.program).processID
        let forced = try daemon.control(
            "force", "shop", "ended", "--for", "1h", "--reason", "x")
        #expect(forced.status == 69 && forced.output == "")
        #expect(
            forced.errors.contains(
                ": process \(process) is stopped; to let it go on, type 'kill -CONT \(process)'; it may "
                    + "still carry out the order when it goes on\n"), "\(forced.errors)")
        #expect(forced.errors.contains(": no answer within 1"))
        // It does carry it out.
        daemon.program?.send(SIGCONT)
        try daemon.waitFor("ended")
    }

    @Test func oneSilentDaemonIsWaitedForOnceAndNotForEachService() throws {
        let daemon = try stopped()
        let errors = try daemon.control("release", "shop", "shop").errors
        #expect(errors.split(separator: "\n").count == 1, "\(errors)")
    }

    @Test func theStatusNamesTheProcessToo() throws {
        let daemon = try stopped()
        let process = try #require(daemon.program).processID
        let status = try daemon.control("status").expect(0, output: "shop     running")
        #expect(status.errors.contains("killswitchd does not answer (last sign of life "))
        #expect(status.errors.contains("process \(process) is stopped"))
        try daemon.control("status", "--check").expect(1, output: "process \(process) is stopped")
    }
}

extension InATerminal {
    @Suite(.timeLimit(.minutes(5))) struct StoppedDaemonInATerminalTests {
        @Test func anOrderShowsThatItWaitsAndGoesOnWithTheDaemon() async throws {
            let daemon = try Daemon.running()
            try daemon.waitUntilItAnswers()
            let terminal = try await RealTerminal(daemon)
            daemon.program?.send(SIGSTOP)
            try terminal.type("killswitchctl release shop")
            try await terminal.wait(until: "waiting for killswitchd … ")
            daemon.program?.send(SIGCONT)
            try await terminal.wait(until: "it was not forced")
            #expect(try !terminal.screen.contains("waiting for killswitchd"))
        }
    }
}
