import JSON
import Support
import Testing

extension Attached {
    /// `killswitchctl unlock`: the way out without the daemon.
    @Suite(.serialized)
    struct UnlockTests {
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
                try host.run("killswitchctl unlock shop") == """
                    removed /run/killswitchd/shop/closed
                    started killswitch-open@shop.target

                    """)
            try host.awaitUp("t-web")
            try host.awaitDown("killswitch-closed@shop.target", "killswitch-ended@shop.target")
            // A second time it does no harm.
            #expect(
                try host.run("killswitchctl unlock shop")
                    == "started killswitch-open@shop.target\n")
            try host.run("systemctl start killswitchd")
            try host.awaitDown("t-web")
            try host.run("systemctl stop killswitchd")
            let text = try host.run("killswitchctl unlock --json shop")
            let report = try #require(JSON.Value.parse(Array(text.utf8)).object)
            #expect(report["service"] == "shop" && report["result"] == "done")
            #expect(report["marker"] == "/run/killswitchd/shop/closed")
            #expect(report["target"] == "killswitch-open@shop.target")
        }

        /// As killswitchd(8) documents them.
        @Test func theTwoCommandsBehindItDoTheSame() throws {
            let host = try closedHost()
            // The second alone opens the gate, and the marker refuses the unit.
            try host.run("systemctl start killswitch-open@shop.target")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            try host.run("rm /run/killswitchd/shop/closed")
            try host.run("systemctl start killswitch-open@shop.target")
            try host.awaitUp("t-web")
        }

        @Test func aRunningDaemonIsNotPassedBy() throws {
            let host = try closedHost()
            let refused = { (cause: String) in
                let result = try host.system.attempt("killswitchctl unlock shop")
                #expect(result.status == 1)
                #expect(result.errors.hasPrefix("killswitchctl: \(cause)"), "\(result.errors)")
                #expect(try host.system.attempt("test -e /run/killswitchd/shop/closed").status == 0)
            }
            try host.run("systemctl start killswitchd")
            try refused("killswitchd.service is active: 'killswitchctl force shop running'")
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
            try host.run("systemctl stop killswitchd; killswitchctl unlock shop")
            try host.awaitUp("t-web")
        }

        @Test func aServiceThatNobodyKnowsIsNone() throws {
            let host = try closedHost()
            try host.system.attempt("killswitchctl unlock shpo").expect(
                4, errors: "no such service 'shpo'")
            let nobody = "setpriv --reuid nobody --clear-groups killswitchctl unlock shop"
            #expect(try host.system.attempt(nobody).status == 5)
            #expect(try host.system.attempt("killswitchctl unlock").status == 2)
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
        }

        /// After a reboot nothing has files, and a daemon that does not start makes none. No unit waits for it.
        @Test func afterARebootWithAMaskedDaemonEachCommandSaysSoAndUnlockOpensEveryGate() throws {
            let host = try closedHost()
            try host.run("systemctl mask killswitchd; systemctl enable t-web")
            defer { do { try host.run("systemctl unmask killswitchd") } catch {} }
            try host.system.reboot()
            for (command, status) in [
                ("is-open shop", 3), ("status", 1), ("status --check", 1), ("get shop state", 3),
                ("explain shop", 3), ("units", 0), ("units --check", 1),
            ] as [(String, Int32)] {
                let result = try host.system.attempt("killswitchctl \(command)")
                #expect(result.status == status, "\(command)")
                let printed = result.output + result.errors
                #expect(
                    printed.contains("no daemon has run since this boot"), "\(command): \(printed)")
                #expect(!printed.contains("not configured"), "\(command): \(printed)")
            }
            #expect(try host.system.attempt("systemctl start t-web").status != 0)
            try host.run("rm -rf /run/killswitchd")
            #expect(try host.system.attempt("killswitchctl unlock mail").status == 4)
            try host.run("mkdir -p /run/killswitchd/shop; touch /run/killswitchd/shop/closed")
            #expect(
                try host.run("killswitchctl unlock --all") == """
                    removed /run/killswitchd/shop/closed
                    started killswitch-open@shop.target

                    """)
            try host.awaitUp("t-web")
            #expect(try host.system.attempt("killswitchctl unlock --all shop").status == 2)
        }
    }
}
