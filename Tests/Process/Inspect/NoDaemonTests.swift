import Files
import Glibc
import JSON
import Support
import Testing

/// The commands that read, where no daemon has decided anything since the boot.
@Suite(.timeLimit(.minutes(5))) struct NoDaemonTests {
    /// The runtime directory is made at the boot. Nobody knows which services there are.
    @Test(arguments: [
        ("is-open shop", Int32(3)), ("get shop state", 3), ("explain shop", 3), ("status shop", 3),
        ("status", 1), ("status --check", 1),
    ]) func withoutAnyDaemonTheCommandsSaySo(_ command: String, _ status: Int32) throws {
        let daemon = try Daemon()
        try Directory.create(daemon.folder("run"))
        let result = try daemon.control(command.split(separator: " ").map(String.init))
        #expect(result.status == status)
        let printed = result.output + result.errors
        #expect(printed.contains("no daemon has run since this boot: connect to '"), "\(printed)")
    }

    @Test func theJSONHasTheProblem() throws {
        let daemon = try Daemon()
        try Directory.create(daemon.folder("run"))
        let result = try daemon.control("status", "--json").expect(1)
        let problems = try JSON.Value.parse(result.output).object?["problems"]?.array
        #expect(problems?.first?.object?["kind"] == "no-daemon")
    }

    @Test(arguments: [("is-open shop", Int32(3)), ("status", 1), ("status --check", 1)])
    func aDaemonThatWasKilledBeforeItsFirstDecisionHasDecidedNothing(
        _ command: String, _ status: Int32
    ) throws {
        let daemon = try Daemon(flags: nil)
        try daemon.start(waitingFor: "undecided")
        try daemon.waitUntil("it listens") { try File.exists(daemon.folder("run/control.sock")) }
        try daemon.stop(SIGKILL)
        let result = try daemon.control(command.split(separator: " ").map(String.init))
        #expect(result.status == status)
        if command != "is-open shop" {
            let printed = result.output + result.errors
            #expect(printed.contains("killswitchd does not run (last sign of life "), "\(printed)")
        }
    }
}
