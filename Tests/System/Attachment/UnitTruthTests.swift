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
            let printed = try host.control("wait shop --for up --timeout 2s")
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
            let gate = try host.json("cat /run/killswitchd/shop/gate.json").object
            #expect(gate?["units"]?.object?["held"] == [["name": "t-app.service", "by": ["api"]]])
            // The journal has it when the gate opens.
            try host.set(Host.ended)
            try host.run("killswitchctl wait shop --for down --timeout 1m")
            try host.set(Host.open)
            try host.wait(forEntry: "gate opened in .*t-app.service stays down because of 'api'$")
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
                "the service is not configured or has 'enforce = false', and units are attached to it: t-app.service"
            let advice = "killswitchctl detach --all gone"
            #expect(try host.system.attempt("systemctl start t-app").status != 0)
            for (command, status) in [
                ("status", 0), ("status gone", 0), ("status --check", 1),
                ("status --check gone", 1),
                ("explain gone", 4), ("units", 0), ("units gone", 0),
            ] {
                let printed = try host.control("\(command)").expect(Int32(status), output: problem)
                let hasAdvice = !command.contains("--check")
                #expect(!hasAdvice || printed.output.contains(advice), "\(command): \(printed)")
            }
            for command in [
                "open gone --for 1h --reason x", "is-open gone", "release gone",
            ] {
                try host.control("\(command)").expect(4, errors: "'killswitchctl explain gone'")
            }
            try host.control("open gone --without-daemon").expect(1, errors: advice)
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
            let attached = try host.control("attach shop t-left")
            #expect(attached.errors.contains("'t-left.service' has KillMode=process: "))
            try host.run("systemctl start t-left")
            // systemd calls it started before the shell has made its process.
            try host.wait(until: "pgrep -f '^sleep 7654321'")
            try host.set(Host.ended, down: "t-left")
            let left = "it is inactive, and 1 of its processes runs on ("
            try host.wait(until: "killswitchctl units | grep -qF '\(left)'")
            let waited = try host.control("wait shop --for down --timeout 1s").expect(124)
            #expect(
                waited.errors.contains(
                    "closing, 0 of 1 unit down, waiting for t-left.service (inactive"))
            #expect(waited.errors.contains("1 of its processes runs on)"), "\(waited.errors)")
            try host.control("status --check").expect(1, output: "'sleep 7654321'")
            let status = try host.run("killswitchctl status")
            #expect(status.contains("0/1") && status.contains("systemctl kill t-left.service"))
            #expect(try host.row("t-left.service")?["processes"] == 1)
            #expect(try host.sentences(of: .unitLeftProcesses).count == 1)
            // The advice works, also for a unit that systemd calls inactive.
            try host.run("systemctl kill t-left.service")
            try host.run("killswitchctl wait shop --for down --timeout 1m")
            try host.wait(until: "killswitchctl status --check")
            #expect(try host.row("t-left.service")?["processes"] == .null)
        }
    }
}

extension OnSystemd {
    /// `killswitchctl open --without-daemon`: the way out without the daemon.
    @Suite struct OpenWithoutDaemonTests {
        /// A host whose service is closed, with `t-web` attached, and without the daemon.
        private func closedHost() throws -> Host {
            let host = try Host(flags: Host.ended)
            try host.services("t-web")
            try host.start(attaching: "t-web")
            try host.awaitUp("killswitch-closed@shop.target", "killswitch-ended@shop.target")
            try host.run("systemctl stop killswitchd")
            return host
        }

        @Test func itOpensTheGateAndTheFlagsDecideAgainWithTheDaemon() throws {
            let host = try closedHost()
            #expect(
                try host.run("killswitchctl open shop --without-daemon") == """
                    renamed /run/killswitchd/shop/closed to 'open'
                    started killswitch-open@shop.target

                    """)
            try host.awaitUp("t-web")
            try host.awaitDown("killswitch-closed@shop.target", "killswitch-ended@shop.target")
            // A second time it does no harm.
            #expect(
                try host.run("killswitchctl open shop --without-daemon")
                    == "started killswitch-open@shop.target\n")
            try host.run("systemctl start killswitchd")
            try host.awaitDown("t-web")
            try host.run("systemctl stop killswitchd")
            let report = try #require(
                host.json("killswitchctl open --json shop --without-daemon").object)
            #expect(report["service"] == "shop" && report["result"] == "done")
            #expect(report["marker"] == "/run/killswitchd/shop/closed")
            #expect(report["target"] == "killswitch-open@shop.target")
        }

        /// As killswitchd(8) documents them.
        @Test func theCommandsBehindItDoTheSame() throws {
            let host = try closedHost()
            // The start alone opens the gate, and the unit lacks its marker.
            try host.run("systemctl start killswitch-open@shop.target")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            try host.run(
                """
                cd /run/killswitchd/shop; rm targets; mv closed open
                systemctl start killswitch-open@shop.target; rm unavailable
                """)
            try host.awaitUp("t-web")
        }

        @Test func aRunningDaemonIsNotPassedBy() throws {
            let host = try closedHost()
            let refused = { (cause: String) in
                let result = try host.control("open shop --without-daemon").expect(1)
                #expect(result.errors.hasPrefix("killswitchctl: \(cause)"), "\(result.errors)")
                #expect(try host.system.attempt("test -e /run/killswitchd/shop/closed").status == 0)
            }
            try host.run("systemctl start killswitchd")
            try refused("killswitchd.service is active: 'killswitchctl open shop'")
            // It answers nobody.
            try host.run("systemctl kill --signal STOP killswitchd")
            try refused("killswitchd.service is active")
            try host.run("systemctl kill --signal CONT killswitchd; systemctl stop killswitchd")
            try host.run("systemd-run --unit t-own.service /usr/sbin/killswitchd")
            try host.wait(until: "killswitchctl refresh")
            try refused("a daemon listens in '/run/killswitchd'")
            try host.run("systemctl stop t-own")
            // systemd starts it again and again, and each time it may close the gate.
            try host.override("ExecStart=\nExecStart=/bin/false\nRestartSec=30")
            try host.run("systemctl start killswitchd || true")
            try refused("killswitchd.service is activating")
            try host.run("systemctl stop killswitchd; killswitchctl open shop --without-daemon")
            try host.awaitUp("t-web")
        }

        @Test func aServiceThatNobodyKnowsIsNone() throws {
            let host = try closedHost()
            try host.control("open shpo --without-daemon").expect(
                4, errors: "no such service 'shpo'")
            let nobody =
                "setpriv --reuid nobody --clear-groups killswitchctl open shop --without-daemon"
            #expect(try host.system.attempt(nobody).status == 5)
            #expect(try host.control("open --without-daemon").status == 2)
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
        }

        /// After a reboot nothing has files, and a daemon that does not start makes none. No unit waits for it.
        @Test func afterARebootWithAMaskedDaemonEachCommandSaysSoAndEveryGateCanBeOpened() throws {
            let host = try closedHost()
            try host.run("systemctl mask killswitchd; systemctl enable t-web")
            defer { do { try host.run("systemctl unmask killswitchd") } catch {} }
            try host.system.reboot()
            for (command, status) in [
                ("is-open shop", 3), ("status", 3), ("status --check", 1), ("get shop state", 3),
                ("explain shop", 3), ("units", 0), ("units --check", 1),
            ] as [(String, Int32)] {
                let result = try host.control("\(command)")
                #expect(result.status == status, "\(command)")
                let printed = result.output + result.errors
                #expect(
                    printed.contains("no daemon has run since this boot"), "\(command): \(printed)")
                #expect(!printed.contains("not configured"), "\(command): \(printed)")
            }
            #expect(try host.system.attempt("systemctl start t-web").status != 0)
            try host.run("rm -rf /run/killswitchd")
            #expect(try host.control("open mail --without-daemon").status == 4)
            try host.run("mkdir -p /run/killswitchd/shop; touch /run/killswitchd/shop/closed")
            #expect(
                try host.run("killswitchctl open --all --without-daemon") == """
                    renamed /run/killswitchd/shop/closed to 'open'
                    started killswitch-open@shop.target

                    """)
            try host.awaitUp("t-web")
            #expect(try host.control("open --all shop --without-daemon").status == 2)
        }
    }
}
