import JSON
import Storage
import Support
import Testing

extension OnSystemd {
    /// What is said of units that are not simply up or down.
    @Suite struct UnitTruthTests {
        /// It once said `open 1/1`, and `wait --for up` ended with 0, while the unit was down.
        @Test func aUnitThatAnotherServiceKeepsDownIsNotUp() throws {
            let host = try Host(Host.shop + Host.service("api"))
            try host.set(Host.ended, of: "api")
            try host.services("t-app")
            try host.start(attaching: "t-app")
            try host.run(
                "killswitchctl attach api t-app; killswitchctl wait api --for down --timeout 1m")
            let printed = try host.system.attempt("killswitchctl wait shop --for up --timeout 2s")
                .expect(
                    124, errors: "open, 0 of 1 unit up, t-app.service stays down because of 'api'")
            #expect(printed.errors.contains("waiting for t-app.service (inactive"))
            #expect(printed.errors.contains(", kept down by 'api')\n"), "\(printed.errors)")
            let status = try host.run("killswitchctl status")
            let row = status.split(separator: "\n").first { $0.hasPrefix("shop ") } ?? ""
            #expect(row.contains("open 0/1") && !row.contains("1/1"), "\(status)")
            #expect(status.contains("\nshop: t-app.service stays down because of 'api'\n"))
            // It is as 'api' wants it, and no alarm.
            try host.run("killswitchctl status --check")
            #expect(try host.run("killswitchctl units shop").contains("kept down by 'api'"))
            #expect(
                try host.run("killswitchctl explain shop")
                    .contains("t-app.service: inactive, wanted down by 'api'"))
            #expect(try host.row("t-app.service")?["held_by"] == ["api"])
            #expect(try host.row("t-app.service", of: "api")?["held_by"] == [])
            let gate = try host.run("cat /run/killswitchd/shop/gate.json")
            #expect(
                try JSON.Value.parse(Array(gate.utf8)).object?["units"]?.object?["held"]
                    == [["name": "t-app.service", "by": ["api"]]])
            // The journal has it when the gate opens.
            try host.set(Host.ended)
            try host.run("killswitchctl wait shop --for down --timeout 1m")
            try host.set(Host.open)
            try host.wait(for: "\"actual\": \"open\"", in: "shop/gate.json")
            let moved = try host.sentences(of: .gateMoved)
            #expect(
                moved.last?.hasSuffix("t-app.service stays down because of 'api'") == true,
                "\(moved)")
            try host.set(Host.open, of: "api")
            try host.run("killswitchctl wait shop --for up --timeout 1m")
            #expect(try host.run("killswitchctl status").contains("1/1"))
        }

        /// Every advice is a command that works then.
        @Test func unitsOfAServiceThatLeftTheConfigurationAreAProblem() throws {
            let host = try Host(Host.shop + Host.service("gone"))
            try host.set(Host.ended, of: "gone")
            try host.services("t-app")
            try host.start()
            try host.run(
                "killswitchctl attach gone t-app; killswitchctl wait gone --for down --timeout 1m")
            let both = try host.run("cat /etc/killswitchd/killswitchd.toml")
            try host.configure(Host.shop)
            try host.run("killswitchctl reload")
            let problem =
                "the service is not configured, and units are attached to it: t-app.service"
            let advice = "killswitchctl detach --all gone"
            #expect(try host.system.attempt("systemctl start t-app").status != 0)
            for (command, status) in [
                ("status", 0), ("status gone", 0), ("status --check", 1),
                ("status --check gone", 1),
                ("explain gone", 4), ("units", 0), ("units gone", 0),
            ] {
                let printed = try host.system.attempt("killswitchctl \(command)").expect(
                    Int32(status), output: problem)
                let hasAdvice = !command.contains("--check")
                #expect(!hasAdvice || printed.output.contains(advice), "\(command): \(printed)")
            }
            for command in [
                "force gone running --for 1h --reason x", "is-open gone", "release gone",
            ] {
                try host.system.attempt("killswitchctl \(command)").expect(
                    4, errors: "'killswitchctl explain gone'")
            }
            try host.system.attempt("killswitchctl unlock gone").expect(1, errors: advice)
            try host.wait(for: "killswitch_problems{kind=\"units-orphaned\"} 1", in: "metrics.prom")
            // It is still a problem after a restart.
            try host.run("systemctl restart killswitchd")
            try host.wait(until: "killswitchctl status --check | grep -q '^gone: '")
            // One way out: the service comes back.
            try host.configure(both)
            try host.run("killswitchctl reload; killswitchctl wait gone --for down --timeout 1m")
            try host.wait(until: "killswitchctl status --check")
            // The other one.
            try host.configure(Host.shop)
            try host.run("killswitchctl reload")
            try host.wait(until: "! killswitchctl status --check")
            try host.run(advice)
            try host.wait(until: "killswitchctl status --check")
            try host.run("systemctl start t-app")
        }

        /// systemd calls it inactive, and its processes go on.
        @Test func aUnitThatLeavesProcessesBehindIsNotDownUntilTheyHaveEnded() throws {
            let host = try Host()
            try host.unit(
                "t-left.service",
                """
                [Service]
                KillMode=process
                ExecStart=/bin/sh -c 'sleep 7654321 & exec sleep infinity'
                """)
            try host.start()
            let attached = try host.system.attempt("killswitchctl attach shop t-left")
            #expect(attached.errors.contains("'t-left.service' has KillMode=process: "))
            try host.run("systemctl start t-left")
            try host.set(Host.ended, down: "t-left")
            let left = "it is inactive, and 1 of its processes runs on ("
            try host.wait(until: "killswitchctl units | grep -qF '\(left)'")
            let waited = try host.system.attempt("killswitchctl wait shop --for down --timeout 1s")
            #expect(waited.status == 124)
            #expect(
                waited.errors.contains(
                    "closing, 0 of 1 unit down, waiting for t-left.service (inactive"))
            #expect(waited.errors.contains("1 of its processes runs on)"), "\(waited.errors)")
            try host.system.attempt("killswitchctl status --check").expect(
                1, output: "'sleep 7654321'")
            let status = try host.run("killswitchctl status")
            #expect(status.contains("0/1") && status.contains("systemctl kill t-left.service"))
            #expect(try host.row("t-left.service")?["processes"] == 1)
            #expect(try host.sentences(of: .unitLeftProcesses).count == 1)
            // The advice works, also for a unit that systemd calls inactive.
            try host.run("systemctl kill t-left.service")
            try host.run("killswitchctl wait shop --for down --timeout 1m")
            try host.run("killswitchctl status --check")
            #expect(try host.row("t-left.service")?["processes"] == .null)
        }
    }
}
