import Files
import Glibc
import JSON
import Support
import Testing

/// `killswitchctl watch`: one line for each change, read from the files.
@Suite(.timeLimit(.minutes(5))) struct WatchCommandTests {
    private func watch(_ daemon: Daemon, _ arguments: String...) throws -> Program {
        try daemon.startControl(["watch"] + arguments)
    }

    private func lines(_ program: Program) throws -> [Substring] {
        try program.output.split(separator: "\n")
    }

    private func wait(for words: String, _ watching: Program, _ daemon: Daemon) throws {
        try daemon.waitUntil("the last line has '\(words)'") {
            try lines(watching).last?.contains(words) == true
        }
    }

    /// A typing error looked like a service that does not change.
    @Test func aServiceThatNobodyHasIsAnError() throws {
        let daemon = try Daemon.running()
        let watching = try watch(daemon, "shpo")
        #expect(try watching.wait() == 4)
        #expect(try watching.errors.contains("no such service 'shpo'; did you mean 'shop'?"))
    }

    @Test func watchPrintsALineForEachChange() throws {
        let daemon = try Daemon()
        let watching = try watch(daemon)
        try daemon.start()
        try wait(for: " running", watching, daemon)
        try daemon.setFlags("over")
        try wait(for: " ended", watching, daemon)
        // The same flags again are no change.
        try daemon.setFlags("over")
        try daemon.setFlags("no")
        try wait(for: " running", watching, daemon)
        // Openings are a second apart.
        let words = try lines(watching).map { $0.split(separator: " ", maxSplits: 1).last ?? "" }
            .filter { !$0.contains("opens the gate again") }
        #expect(
            words.suffix(3) == [
                "shop running: set by the flags of source 'shop'",
                "shop ended: set by the flags of source 'shop'",
                "shop running: set by the flags of source 'shop'",
            ])
        #expect(try watching.errors == "")
    }

    @Test func aRestartOfTheDaemonDoesNotInterruptAWatch() throws {
        let daemon = try Daemon.running()
        let watching = try watch(daemon)
        try daemon.waitUntil("it is running") { try lines(watching).count == 1 }
        try daemon.stop(SIGKILL)
        try daemon.setFlags("over")
        try daemon.start()
        try wait(for: " ended", watching, daemon)
        try daemon.setFlags("no")
        try wait(for: " running", watching, daemon)
        let words = try lines(watching).compactMap { $0.split(separator: " ").dropFirst(2).first }
        #expect(words.first == "running:" && words.suffix(2) == ["ended:", "running:"])
    }

    @Test func watchPrintsTheWholeStateAsJSON() throws {
        let daemon = try Daemon.decided()
        let watching = try watch(daemon, "--json", "shop")
        try daemon.waitUntil("there is a line") { try !lines(watching).isEmpty }
        let line = try #require(try lines(watching).first)
        let object = try #require(try JSON.Value.parse(String(line)).object)
        #expect(object["service"]?.string == "shop" && object["current"]?.bool == true)
        #expect(object["state"]?.string == "running")
    }

    @Test func watchReportsAServiceThatIsNoLongerConfigured() throws {
        let daemon = try Daemon.decided()
        let watching = try watch(daemon)
        try daemon.waitUntil("there is a line") { try !lines(watching).isEmpty }
        try File.remove(daemon.folder("run/shop/state.json"))
        try daemon.waitUntil("it is told") {
            try lines(watching).last?.hasSuffix(" shop is no longer configured") == true
        }
    }

    /// Nothing changes after the first line: the end of the reader alone ends the watch.
    @Test(arguments: ["head -n 1", "grep -m 1 running"]) func watchEndsWithItsReader(
        _ reader: String
    ) throws {
        let daemon = try Daemon.decided()
        let result = try Program.run(
            "/bin/bash",
            [
                "-c", "\"$0\" watch --runtime-directory \"$1\" | \(reader); echo ${PIPESTATUS[0]}",
                try Programs.path(of: "killswitchctl"), daemon.folder("run"),
            ])
        let lines = result.output.split(separator: "\n")
        #expect(lines.first?.contains(" shop running: ") == true)
        #expect(lines.last == "\(128 + SIGPIPE)")
    }

    @Test func watchEndsIfItsOutputCannotBeWritten() throws {
        let daemon = try Daemon.decided()
        let result = try Program.run(
            "/bin/sh",
            [
                "-c", "exec \"$0\" watch --runtime-directory \"$1\" > /dev/full",
                try Programs.path(of: "killswitchctl"), daemon.folder("run"),
            ]
        ).expect(70)
        #expect(result.errors == "killswitchctl: write the output: no space left on device\n")
    }
}

/// Waiting for what a gate does, and what is said of it, with a daemon that moves no gates.
@Suite(.timeLimit(.minutes(5))) struct EffectTests {
    private func running() throws -> Daemon {
        let daemon = try Daemon.running()
        try daemon.waitUntil("gate.json is there") {
            try File.exists(daemon.folder("run/shop/gate.json"))
        }
        return daemon
    }

    /// A gate.json as a daemon that moves gates writes it.
    private func write(_ actual: String, wanted: String, _ more: String, _ daemon: Daemon) throws {
        try daemon.folder.write(
            #"{"wanted": "\#(wanted)", "actual": "\#(actual)", \#(more)}"#,
            to: "run/shop/gate.json")
    }

    @Test func withoutGatesTheFileSaysThatNothingIsMovedAndTheColumnHasTheVerdictsGate() throws {
        let daemon = try running()
        let gate = try JSON.Value.parse(Array(daemon.folder.text(of: "run/shop/gate.json").utf8))
        #expect(
            gate
                == .object([
                    "wanted": "open", "actual": .null, "since": .null, "problem": .null,
                    "advice": .null, "next_try": .null, "drains_until": .null, "enforced": true,
                    "units": .null,
                ]))
        #expect(try daemon.control("status").output.contains("shop     running  open  "))
    }

    @Test(arguments: ["wait shop --for up", "run shop --for up -- true"])
    func withoutGatesNothingComesUpOrDown(_ command: String) throws {
        let daemon = try running()
        try daemon.control(command.split(separator: " ").map(String.init)).expect(
            1, errors: "started without --gates and moves no gate")
    }

    @Test func upWaitsForEveryUnitAndClosedGatesOfOthersDoNotCount() throws {
        let daemon = try running()
        let wait = ["wait", "shop", "--for", "up", "--timeout", "1ms"]
        for (actual, wanted, units, status) in [
            ("opening", "open", #""units": {"down": null, "up": 1, "of": 2, "problems": []}"#, 124),
            ("open", "open", #""units": {"down": null, "up": 1, "of": 2, "problems": []}"#, 124),
            (
                "closed", "closed", #""units": {"down": 2, "up": null, "of": 2, "problems": []}"#,
                124
            ),
            ("open", "open", #""units": {"down": null, "up": 2, "of": 2, "problems": []}"#, 0),
            ("stuck", "open", #""problem": "its gate cannot be moved: no bus""#, 1),
            ("stuck", "closed", #""problem": "its gate cannot be moved: no bus""#, 124),
        ] {
            try write(actual, wanted: wanted, units, daemon)
            let result = try daemon.control(wait)
            #expect(
                result.status == Int32(status), "\(actual) \(wanted) \(units): \(result.errors)")
        }
    }

    @Test func statusAndExplainShowHowFarTheGateIs() throws {
        let daemon = try running()
        try write(
            "opening", wanted: "open",
            #""units": {"down": null, "up": 1, "of": 3, "problems": []}"#, daemon)
        #expect(try daemon.control("status").output.contains("opening 1/3"))
        try write(
            "stuck", wanted: "open",
            #""problem": "its gate cannot be moved: no bus", "advice": "see 'systemctl status dbus'""#,
            daemon)
        #expect(try daemon.control("status").output.contains("shop     running  stuck  "))
        let explained = try daemon.control("explain", "shop").output
        #expect(explained.contains(/(?m)^gate +stuck$/))
    }

    /// Without a daemon that tells of the whole host, the files of services do.
    @Test func withoutHostFileThatOfTheGateTellsItsProblem() throws {
        let daemon = try running()
        let problem = "its gate cannot be moved: no bus"
        try write("stuck", wanted: "open", #""problem": "\#(problem)""#, daemon)
        _ = try daemon.stop(SIGKILL)
        try File.remove(daemon.folder("run/host.json"))
        for command in [
            ["status"], ["status", "--json"], ["units", "shop"], ["explain", "shop"],
        ] {
            let printed = try daemon.control(command)
            #expect(printed.output.contains("shop: \(problem)"), "\(command)")
        }
    }

    @Test func anOrderThatWaitsWithoutGatesSaysThatNothingIsMoved() throws {
        let daemon = try running()
        try daemon.control(
            "close", "shop", "--state", "ended", "--reason", "x", "--for", "1h", "--wait"
        ).expect(
            1, errors: "shop: killswitchd was started without --gates")
        #expect(try daemon.member("state") == "\"ended\"")
    }
}
