import Files
import Glibc
import JSON
import Support
import Testing

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
                    "advice": .null, "next_try": .null, "drains_until": .null, "units": .null,
                ]))
        #expect(try daemon.control("status").output.contains("shop     running  open  "))
    }

    @Test(arguments: ["wait shop --for up", "run shop --when up -- true"])
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

    /// A daemon tells its own problems. Without one the file does.
    @Test func withoutADaemonTheFileTellsTheProblemOfTheGate() throws {
        let daemon = try running()
        let problem = "its gate cannot be moved: no bus"
        try write("stuck", wanted: "open", #""problem": "\#(problem)""#, daemon)
        _ = try daemon.stop(SIGKILL)
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
            "force", "shop", "ended", "--reason", "x", "--for", "1h", "--wait"
        ).expect(
            1, errors: "shop: killswitchd was started without --gates")
        #expect(try daemon.member("state") == "\"ended\"")
    }
}
