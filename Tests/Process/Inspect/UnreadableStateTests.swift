import Files
import Glibc
import JSON
import Support
import Testing

/// What the commands do with a state file that they cannot read.
@Suite(.timeLimit(.minutes(5))) struct UnreadableStateTests {
    private static let values = """
        [service.shop.values]
        v = { key = "v", type = "json" }
        """

    /// Values at the limit of nesting: state.json and the answers of the daemon hold them some levels deeper. The
    /// commands once rejected such files, did not find the service, and `run` never stopped its command.
    @Test(arguments: [
        // In the document of flags, and as a string that holds JSON of its own.
        String(repeating: "[", count: 63) + String(repeating: "]", count: 63),
        "\"" + String(repeating: "[", count: 64) + String(repeating: "]", count: 64) + "\"",
    ])
    func theDeepestAcceptedValueIsReadByEveryCommand(_ value: String) async throws {
        let flags = { (end: String) in #"{"service_end": "\#(end)", "v": \#(value)}"# }
        let daemon = try Daemon("\(Daemon.shop)\n\(Self.values)", flags: flags("no")).start()
        try daemon.waitUntil("it is open") { try daemon.control("is-open", "shop").status == 0 }
        let brackets = value.filter { $0 != "\"" }
        #expect(try daemon.control("get", "shop", "values.v").output == brackets + "\n")
        #expect(try daemon.control("status").output.contains("shop     running  open"))
        #expect(try daemon.control("refresh").output.contains("shop: running"))
        let running = try daemon.startControl(
            ["run", "shop", "--quiet", "--", "/bin/sh", "-c", "echo ready; exec sleep 60"])
        try daemon.waitUntil("it runs") { try running.output == "ready\n" }
        try daemon.folder.write(flags("over"), to: "flags.json")
        #expect(try await running.end() == 128 + SIGTERM)
    }

    /// A service with a malformed state file, and a marker beside it.
    private func unreadable(_ marker: String?) throws -> Daemon {
        let daemon = try Daemon()
        try Directory.create(daemon.folder("run/shop"))
        try daemon.folder.write("{", to: "run/shop/state.json")
        if let marker { try daemon.folder.write("", to: "run/shop/\(marker)") }
        return daemon
    }

    @Test(arguments: [
        ("open", Int32(3), "; its marker says open"), ("closed", 1, "; its marker says closed"),
        (nil, 3, ""),
    ])
    func anUnreadableStateIsAnErrorOfItsOwn(
        _ marker: String?, _ status: Int32, _ words: String
    ) throws {
        let daemon = try unreadable(marker)
        let problem =
            "killswitchctl: read '\(daemon.folder("run/shop/state.json"))': unexpected end of "
            + "input at line 1, column 2: expected a key in double quotes or '}'\(words)\n"
        let isOpen = try daemon.control("is-open", "shop")
        #expect(isOpen == .init(status: status, output: "", errors: problem))
        for command in [["get", "shop", "state"], ["explain", "shop"]] {
            let result = try daemon.control(command)
            #expect(result == .init(status: 1, output: "", errors: problem))
        }
    }

    @Test func isOpenPrintsNullForUnknownFacts() throws {
        let isOpen = { (daemon: Daemon) in try daemon.control("is-open", "shop", "--json").output }
        #expect(
            try isOpen(try unreadable("open"))
                == #"{"service":"shop","open":null,"state":null}"# + "\n")
        #expect(
            try isOpen(try unreadable("closed"))
                == #"{"service":"shop","open":false,"state":null}"# + "\n")
    }

    @Test func statusReportsAnUnreadableStateAndShowsTheOthers() throws {
        let daemon = try Daemon.decided()
        try Directory.create(daemon.folder("run/web/state.json"))
        let status = try daemon.control("status").expect(
            1, output: "shop     running  open", errors: "run/web/state.json': is a directory")
        #expect(!status.errors.contains("no service is known yet"))
    }

    @Test func runAndWaitUseTheMarkerOfAnUnreadableState() async throws {
        let daemon = try unreadable("closed")
        let wait = { (goal: String) in
            try daemon.control("wait", "shop", "--for", goal, "--timeout", "50ms").status
        }
        #expect(try wait("closed") == 0 && wait("decided") == 0)
        #expect(try wait("open") == 124 && wait("ended") == 124)
        let program = try daemon.startControl(
            ["run", "shop", "--", "/bin/sh", "-c", "echo ready; exec sleep 60"])
        try File.rename(daemon.folder("run/shop/closed"), to: daemon.folder("run/shop/open"))
        try daemon.waitUntil("it runs") { try program.output == "ready\n" }
        try File.rename(daemon.folder("run/shop/open"), to: daemon.folder("run/shop/closed"))
        #expect(try await program.end() == 128 + SIGTERM)
        #expect(try program.errors.contains("'shop' is closed, no longer open"))
    }

    @Test func watchReportsAnUnreadableStateOnceAndGoesOn() throws {
        let daemon = try unreadable("open")
        let program = try daemon.startControl(["watch"])
        try daemon.waitUntil("it is named") { try program.errors.contains("its marker says open") }
        #expect(try daemon.run("--once").status == 0)
        try daemon.waitUntil("it is told of") { try program.output.contains("shop running") }
        #expect(try program.errors.split(separator: "\n").count == 1)
    }
}

/// The commands that read, where no daemon has decided anything since the boot.
@Suite(.timeLimit(.minutes(5))) struct NoDaemonTests {
    /// The runtime directory is made at the boot. Nobody knows which services there are.
    @Test(arguments: [
        ("is-open shop", Int32(3)), ("get shop state", 3), ("explain shop", 3), ("status shop", 3),
        ("status", 3), ("status --check", 1),
    ]) func withoutAnyDaemonTheCommandsSaySo(_ command: String, _ status: Int32) throws {
        let daemon = try Daemon()
        try Directory.create(daemon.folder("run"))
        let result = try daemon.control(command.split(separator: " ").map(String.init))
        #expect(result.status == status)
        let printed = result.output + result.errors
        #expect(printed.contains("no daemon has run since this boot"), "\(printed)")
    }

    @Test func theJSONHasTheProblem() throws {
        let daemon = try Daemon()
        try Directory.create(daemon.folder("run"))
        let result = try daemon.control("status", "--json").expect(3)
        let problems = try JSON.Value.parse(result.output).object?["problems"]?.array
        #expect(problems?.first?.object?["kind"] == "no-daemon")
    }

    @Test(arguments: [("is-open shop", Int32(3)), ("status", 3), ("status --check", 1)])
    func aDaemonThatWasKilledBeforeItsFirstDecisionHasDecidedNothing(
        _ command: String, _ status: Int32
    ) throws {
        let daemon = try Daemon(flags: nil).start(waitingFor: "undecided")
        try daemon.waitUntil("it listens") { try File.exists(daemon.folder("run/control.sock")) }
        try daemon.stop(SIGKILL)
        try daemon.ageSignOfLife()
        let result = try daemon.control(command.split(separator: " ").map(String.init))
        #expect(result.status == status)
        if command != "is-open shop" {
            let printed = result.output + result.errors
            #expect(printed.contains("killswitchd does not run (last sign of life "), "\(printed)")
        }
    }
}
