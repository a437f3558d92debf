import Files
import Glibc
import JSON
import Support
import Testing

/// The control socket, as the public Varlink client of Python sees it.
@Suite(.timeLimit(.minutes(5))) struct VarlinkTests {
    @Test func thePublicClientCallsEveryMethod() async throws {
        let daemon = try Daemon.running()
        let result = try await Program.finish(
            try PythonEnvironment.ready().python,
            [
                script("varlink-client.py"), daemon.folder("run/control.sock"),
                daemon.folder("killswitchd.toml"),
            ])
        #expect(result.errors == "")
        #expect(
            result.output.replacing(/; known are .*/, with: "…") == """
                interfaces: org.varlink.service io.killswitchd
                force: shop maintenance override
                undeclared: []
                until: shop maintenance override
                another: False
                release: True
                refresh: ['shop unchanged']
                activate: []
                reload: {'services': ['shop'], 'sources': ['shop'], 'warnings': [], 'problems': [], 'attached': [], 'detached': [], 'unattached': []}
                forget: {'services': ['shop']}
                confirm: []
                note: None
                explain: ['lines', 'switches']
                no service: io.killswitchd.NoSuchService {'known': ['shop'], 'service': 'shpo'}
                no source: io.killswitchd.NoSuchSource {'known': ['shop'], 'source': 'shpo'}
                no state: org.varlink.service.InvalidParameter {'parameter': 'state'}
                past: io.killswitchd.NotInTheFuture {'until': '2001-01-01T00:00:00Z'}
                no gates: io.killswitchd.GatesNotMoved {'service': 'shop'}
                no upgrade: {"error":"org.varlink.service.MethodNotImplemented",\
                "parameters":{"method":"Explain"}}
                refused: io.killswitchd.ConfigurationRefused {'problems': "FILE:6:1: unknown key \
                'nonsense' in [service.shop]…
                not called: []

                """)
    }
}

func script(_ name: String, file: String = #filePath) -> String {
    "/" + file.split(separator: "/").dropLast().joined(separator: "/") + "/" + name
}

/// The socket file: its mode, and files that are already at its path.
@Suite(.timeLimit(.minutes(5))) struct SocketTests {
    @Test func itsUserAndGroupMayConnect() throws {
        let daemon = try Daemon.running()
        #expect(try File.attributes(of: daemon.folder("run/control.sock")).mode == 0o660)
        #expect(try !File.exists(daemon.folder("run/control.sock.new")))
    }

    @Test func aSocketLeftByACrashIsReplaced() throws {
        let daemon = try Daemon.running()
        try daemon.stop(SIGKILL)
        #expect(try File.exists(daemon.folder("run/control.sock")))
        #expect(try daemon.control("refresh").status == 69)
        try daemon.start()
        try daemon.waitUntilItAnswers()
    }

    @Test func anotherFileAtTheSocketsPathStaysAndSwitchesStillWork() throws {
        let daemon = try Daemon()
        try Directory.create(daemon.folder("run"))
        try daemon.folder.write("precious", to: "run/control.sock")
        try daemon.start(waitingFor: "running")
        #expect(try daemon.folder.text(of: "run/control.sock") == "precious")
        #expect(
            try daemon.log.contains(
                "it is not a socket; killswitchctl shows states but cannot give orders"))
    }
}

/// Commands against a daemon that a signal has stopped: it accepts connections, and answers nothing.
@Suite(.timeLimit(.minutes(5))) struct StoppedDaemonTests {
    private func stopped() throws -> Daemon {
        let daemon = try Daemon.running()
        try daemon.waitUntilItAnswers()
        daemon.program?.send(SIGSTOP)
        return daemon
    }

    /// It waited without a word, for ever.
    @Test func anOrderFailsAfterTenSeconds() throws {
        let daemon = try stopped()
        let forced = try daemon.control(
            "close", "shop", "--state", "ended", "--for", "1h", "--reason", "x")
        #expect(forced.status == 69 && forced.output == "")
        #expect(
            forced.errors.contains(
                " s; see 'systemctl status killswitchd'; it may still carry out the order when it "
                    + "goes on\n"), "\(forced.errors)")
        let waited = forced.errors.firstMatch(of: /: no answer within (\d+) s/)
        #expect((10..<30).contains(try #require(waited.flatMap { Int($0.1) })), "\(forced.errors)")
        // It does carry it out.
        daemon.program?.send(SIGCONT)
        try daemon.waitFor("ended")
    }

    @Test func oneSilentDaemonIsWaitedForOnceAndNotForEachService() throws {
        let daemon = try stopped()
        let errors = try daemon.control("release", "shop", "shop").errors
        #expect(errors.split(separator: "\n").count == 1, "\(errors)")
    }

    /// A reader asks nobody: it looks at the last sign of life.
    @Test func theStatusTellsOfTheSilence() throws {
        let daemon = try stopped()
        try daemon.control("status").expect(0, output: "shop     running")
        try daemon.ageSignOfLife()
        let words = "killswitchd does not run (last sign of life 2m"
        try daemon.control("status").expect(3, output: "shop     running", errors: words)
        try daemon.control("status", "--check").expect(1, output: words)
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
