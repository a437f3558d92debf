import JSON
import Storage
import Support
import Testing

extension OnSystemd {
    /// Gates while a service that they depend on is down or frozen.
    @Suite struct OutageTests {
        private static let targets =
            "killswitch-open@shop.target killswitch-closed@shop.target "
            + "killswitch-maintenance@shop.target killswitch-ended@shop.target"

        /// The invocations of the targets and the unit: they change when anything is moved.
        private func runs(_ host: Host) throws -> String {
            try host.run("systemctl show -P InvocationID -P ActiveState \(Self.targets) t-web")
        }

        private func kill(_ signal: String, _ host: Host) throws {
            let before = try host.property("NRestarts")
            try host.run("systemctl kill --kill-whom=main -s \(signal) killswitchd")
            try host.wait(until: "test $(systemctl show killswitchd -P NRestarts) != \(before)")
            try host.awaitUp("killswitchd")
        }

        /// Between the moment at which there is room again and the next attempt.
        @Test func anOrderThatCouldNotBeStoredIsStoredByTheStopOfTheDaemon() throws {
            let host = try Host()
            try host.run(
                "mkdir -p /var/lib/killswitchd; mount -t tmpfs -o size=128k,mode=0700 tmpfs /var/lib/killswitchd; "
                    + "chown killswitchd: /var/lib/killswitchd")
            try host.undoing("systemctl stop killswitchd; umount --lazy /var/lib/killswitchd") {
                try host.start()
                try host.run("cat /dev/zero > /var/lib/killswitchd/filler 2>/dev/null; true")
                // It is in force, and the command says that it is not stored.
                let force = "close shop --state ended --for 1h --reason full"
                #expect(try host.control(force).status == 1)
                // Attempts after one, two and four seconds have failed: the next one is eight seconds away.
                try host.wait(
                    until: "killswitchctl status --check | grep -q 'cannot store the orders'")
                try host.run(
                    "sleep 4; rm /var/lib/killswitchd/filler; systemctl restart killswitchd")
                #expect(try host.run("killswitchctl get shop state") == "ended\n")
            }
        }

        @Test func aKilledDaemonMovesNoGateAndAgreesWhenItIsBack() throws {
            let host = try Host.having("t-web")
            try host.override("RestartSec=0")
            try host.startUnits("t-web")
            let maintenance = "killswitch-maintenance@shop.target"
            for (flags, state, up) in [
                (Host.open, "open", "t-web"), (Host.maintenance, "closed", maintenance),
                (Host.ended, "closed", "killswitch-ended@shop.target"),
                (Host.open, "open", "t-web"),
            ] {
                try host.set(flags, up: "killswitch-\(state)@shop.target", up)
                let before = try runs(host)
                try kill("KILL", host)
                #expect(try runs(host) == before)
                #expect(try host.run("killswitchctl get shop gate") == "\(state)\n")
            }
            #expect(try host.journal(of: .gateMovedElsewhere).isEmpty)
        }

        /// The request is lost with it, and the files say what it was.
        @Test func aMoverThatIsKilledWithARequestMakesTheMoveWhenItIsBack() throws {
            let host = try Host.running("t-web")
            try host.run("killswitchctl wait shop --for up --timeout 1m")
            for (flags, up, down) in [
                (Host.maintenance, "killswitch-maintenance@shop.target", "t-web"),
                (Host.open, "t-web", "killswitch-closed@shop.target"),
            ] {
                try host.run("systemctl kill --signal=STOP killswitchd-gates")
                try host.set(flags)
                try host.wait(forStatus: "does not answer")
                try host.run("systemctl kill --signal=KILL killswitchd-gates")
                try host.awaitUp(up)
                try host.awaitDown(down)
            }
            try host.wait(until: "killswitchctl status --check")
        }

        /// More openings and closings than it may look at in that time: the last decision holds.
        @Test func theLastOfManyDecisionsHolds() throws {
            let host = try Host()
            // Else systemd would not start it so often.
            try host.unit(
                "t-web.service",
                "[Unit]\nStartLimitIntervalSec=0\n[Service]\nExecStart=/bin/sleep infinity")
            try host.start(attaching: "t-web")
            try host.run("systemctl start t-web; killswitchctl wait shop --for up --timeout 1m")
            for count in 1...30 {
                try host.set(count.isMultiple(of: 2) ? Host.open : Host.ended)
                try host.run("sleep 0.03")
            }
            try host.run(
                "killswitchctl refresh shop; killswitchctl wait shop --for up --timeout 1m")
            try host.set(Host.ended)
            try host.run(
                "killswitchctl refresh shop; killswitchctl wait shop --for down --timeout 1m")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
        }

        @Test func aFrozenDaemonIsStartedAgainAndMovesNothing() throws {
            let host = try Host.having("t-web")
            try host.override("WatchdogSec=6s")
            try host.startUnits("t-web")
            let before = try runs(host)
            try kill("STOP", host)
            #expect(try runs(host) == before)
            try host.set(Host.ended, down: "t-web")
        }

        @Test(arguments: ["systemd-journald", "killswitchd-gates", "dbus"])
        func filesAndWatchdogContinueWhileASystemServiceIsFrozen(_ unit: String) throws {
            let host = try Host.having("t-web")
            try host.override("WatchdogSec=6s")
            try host.startUnits("t-web")
            // The daemon has used each of the three services before.
            try host.set(Host.maintenance, up: "killswitch-maintenance@shop.target")
            try host.set(Host.open, up: "t-web")
            // On a busy machine a look of the mover may have taken longer than a second before.
            let said = try host.sentences(of: .moverSilent).count
            let process = try host.property("MainPID", of: unit)
            try host.run("kill -STOP \(process)")
            // The watchdog may have ended the mover by then.
            try host.undoing("kill -CONT \(process) || true") {
                try host.set(Host.ended)
                try host.wait(until: "killswitchctl wait shop --for ended --timeout 1m")
                try host.wait(until: "test -e /run/killswitchd/shop/closed")
                if unit == "killswitchd-gates" {
                    try host.wait(for: "does not answer", in: "shop/gate.json")
                    try host.wait(until: "killswitchctl status --check | grep -q 'does not answer'")
                    try host.control("status --check").expect(1)
                    #expect(try host.sentences(of: .moverSilent).count == said + 1)
                } else {
                    // The mover needs neither the journal nor a bus.
                    try host.awaitDown("t-web")
                }
                // Waits longer than the watchdog's limit.
                let daemon = try host.property("MainPID")
                _ = try host.system.attempt("timeout 15 tail --pid=\(daemon) -f /dev/null")
                #expect(try host.property("NRestarts") == "0")
                #expect(try host.property("MainPID") == daemon)
            }
            try host.awaitDown("t-web")
            try host.awaitUp("killswitch-closed@shop.target", "killswitch-ended@shop.target")
            #expect(try host.property("NRestarts") == "0")
            try host.run("killswitchctl wait shop --for down --timeout 2m")
            try host.wait(until: "killswitchctl status --check")
        }

        @Test func aBusThatIsRestartedIsFoundAgain() throws {
            let host = try Host.running("t-web")
            try host.run("systemctl restart dbus.service")
            try host.wait(forEntry: "over: gates: ")
            try host.set(Host.ended, up: "killswitch-closed@shop.target", down: "t-web")
            #expect(try host.journal(of: .busLost).count == 1)
            #expect(try host.property("NRestarts") == "0")
            // In the middle of a closing: who waits for its end gets it.
            try host.heldService()
            try host.set(Host.open)
            try host.start(attaching: "t-slow")
            try host.run("killswitchctl wait shop --for open; systemctl start t-slow")
            try host.set(Host.ended)
            try host.wait(until: "systemctl show -P ActiveState t-slow | grep -q deactivating")
            try host.run(
                "killswitchctl wait shop --for down --timeout 2m & systemctl restart dbus.service; "
                    + "touch /run/t-go; wait $!")
            #expect(try host.property("ActiveState", of: "t-slow") == "inactive")
            try host.wait(
                until: "journalctl --sync; test $(journalctl MESSAGE_ID="
                    + "\(MessageID.busLost.rawValue) --since @\(host.start) -o cat | wc -l) = 2")
        }

        @Test func withoutABusGatesMoveAndNobodySaysWhatBecameOfThem() throws {
            let host = try Host()
            try host.run("systemctl stop dbus.socket dbus.service 2>/dev/null; true")
            try host.undoing("systemctl start dbus.socket dbus.service") {
                try host.start()
                #expect(try host.run("killswitchctl is-open shop").contains("open"))
                try host.wait(forStatus: "gates: connect to the bus")
                try host.set(Host.ended)
                try host.wait(until: "killswitchctl wait shop --for ended --timeout 1m")
                try host.awaitUp("killswitch-closed@shop.target", "killswitch-ended@shop.target")
                #expect(
                    try host.json("cat /run/killswitchd/shop/gate.json").object?["actual"]
                        == "closing")
            }
            try host.run("killswitchctl wait shop --for down --timeout 2m")
        }

        /// Root may take the right away, and give it back.
        @Test func withoutAMoverNothingMovesAndThatIsReportedOnce() throws {
            let host = try Host.running("t-web")
            let units = "killswitchd-gates.socket killswitchd-gates.service"
            let said = try host.sentences(of: .moverSilent).count
            try host.run("systemctl mask --runtime --now \(units)")
            try host.undoing("systemctl unmask --runtime \(units); systemctl start \(units)") {
                try host.set(Host.ended)
                try host.wait(forStatus: "does not answer")
                #expect(try host.property("ActiveState", of: "t-web") == "active")
            }
            try host.awaitDown("t-web")
            try host.awaitUp("killswitch-ended@shop.target")
            #expect(try host.sentences(of: .moverSilent).count == said + 1)
        }

        @Test func missingTargetTemplatesAreReportedAndVerdictsContinue() throws {
            let host = try Host()
            let folder = "/lib/systemd/system"
            try host.start()
            try host.awaitUp("killswitch-open@shop.target")
            try host.run("mkdir /run/t-kept; mv \(folder)/killswitch-*.target /run/t-kept")
            try host.run("systemctl daemon-reload")
            try host.undoing("mv /run/t-kept/* \(folder); systemctl daemon-reload") {
                try host.set(Host.maintenance)
                try host.wait(until: "killswitchctl wait shop --for maintenance --timeout 5s")
                try host.wait(forStatus: "cannot be moved")
            }
            try host.awaitUp("killswitch-maintenance@shop.target")
        }

        @Test func isolateStopsNeitherTheGateNorItsUnits() throws {
            let host = try Host.having("t-web")
            try host.run("systemctl daemon-reload; systemctl enable killswitchd t-web")
            try host.startUnits("t-web")
            let before = try runs(host)
            try host.run("systemctl isolate multi-user.target")
            #expect(try runs(host) == before)
            try host.set(Host.ended, down: "t-web")
        }

        @Test func theDaemonFollowsAReexecutedSystemd() throws {
            let host = try Host.running("t-web")
            let before = try runs(host)
            try host.run("systemctl daemon-reexec")
            #expect(try runs(host) == before)
            try host.set(Host.ended, up: "killswitch-closed@shop.target", down: "t-web")
            try host.run("systemctl start killswitch-open@shop.target || true")
            try host.awaitUp("killswitch-closed@shop.target")
        }
    }
}
