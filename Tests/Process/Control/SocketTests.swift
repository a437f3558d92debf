import Files
import Glibc
import Support
import Testing

/// The socket file: its mode, and files that are already at its path.
@Suite(.timeLimit(.minutes(5))) struct SocketTests {
    @Test func everybodyMayConnect() throws {
        let daemon = try Daemon.running()
        #expect(try File.attributes(of: daemon.folder("run/control.sock")).mode == 0o666)
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

    @Test func onceOpensNoControlSocket() throws {
        let daemon = try Daemon()
        #expect(try daemon.run("--once").status == 0)
        #expect(try !File.exists(daemon.folder("run/control.sock")))
    }
}
