import JSON
import Storage
import Support
import Testing

extension OnSystemd {
    /// However a drill ends, the gate opens again in time, and the units run again.
    @Suite struct DrillInterruptionTests {
        /// A host on which a drill takes until a unit is let go, or ten seconds.
        private func host(isSlow: Bool = false) throws -> Host {
            let host = try Host.having("t-web")
            if isSlow { try host.slowService(seconds: 10) } else { try host.heldService() }
            try host.open("t-web t-slow")
            return host
        }

        @Test(arguments: [("INT", 130), ("TERM", 143), ("HUP", 129)])
        func aSignalOpensTheGateAtOnce(_ signal: String, _ status: Int) throws {
            let host = try host()
            try host.beginDrill("--for 5m")
            try host.run("systemctl kill --kill-whom=main --signal=\(signal) t-drill")
            try host.letGo()
            let end = try host.endOfDrill()
            #expect(end.status == status)
            #expect(end.output.contains("t-slow.service"))
            #expect(end.output.contains("and the drill was broken off"))
            try host.awaitOpen("t-web", "t-slow")
        }

        /// The session leader is killed: the kernel sends SIGHUP to the programs of the terminal.
        @Test func aTerminalThatIsLostOpensTheGateAtOnce() throws {
            let host = try host()
            try host.beginDrill("--for 5m", through: "script -qec")
            try host.run("systemctl kill --kill-whom=main --signal=KILL t-drill")
            try host.letGo()
            try host.awaitOpen("t-web", "t-slow")
            try host.wait(until: "! pgrep -x killswitchctl")
        }

        @Test func aDrillThatIsKilledLeavesAGateThatOpensByItself() throws {
            let host = try host()
            try host.beginDrill("--for 20s")
            try host.run("systemctl kill --kill-whom=main --signal=KILL t-drill")
            try host.letGo()
            try host.wait(until: "systemctl is-active --quiet killswitch-closed@shop.target")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            try host.wait(until: "systemctl is-active --quiet killswitch-open@shop.target")
            try host.awaitOpen("t-web", "t-slow")
            #expect(try host.journal(of: .overrideExpired).count == 1)
        }

        @Test func aDrillGoesOnWithADaemonThatIsKilledAndIsBack() throws {
            let host = try host()
            try host.beginDrill("--for 1m")
            try host.wait(until: "! systemctl is-active --quiet t-web")
            try host.run("systemctl kill --kill-whom=main --signal=KILL killswitchd")
            try host.letGo()
            let end = try host.endOfDrill()
            #expect(end.status == 0, "\(end)")
            try host.awaitOpen("t-web", "t-slow")
        }

        @Test func aDaemonThatStaysAwayIsWaitedFor() throws {
            let host = try host()
            try host.override("RestartSec=1h")
            try host.beginDrill("--for 10s")
            // The files say closed before systemd is asked: a daemon that is killed in between moves nothing.
            try host.wait(until: "! systemctl is-active --quiet t-web")
            try host.run("systemctl kill --kill-whom=main --signal=KILL killswitchd")
            try host.letGo()
            let waiting = "waiting: killswitchd does not answer"
            try host.wait(until: "grep -q '\(waiting)' /run/t-drill.err")
            try host.run("systemctl restart killswitchd")
            // Nobody has seen what the units did meanwhile.
            #expect(try host.endOfDrill().status == 1)
            try host.awaitOpen("t-web", "t-slow")
        }

        /// systemd stops the drill with a signal, so that it opens the gate before the reboot.
        @Test func aRebootEndsADrill() throws {
            let host = try host(isSlow: true)
            try host.run("systemctl enable killswitchd t-web")
            try host.beginDrill("--for 5m")
            try host.system.reboot()
            try host.awaitOpen("t-web", "t-slow")
        }

        /// As after a power cut: the daemon finds the order of the drill again, and ends it in time.
        @Test func anOrderThatOutlivesARebootIsOverInItsTime() throws {
            let host = try host(isSlow: true)
            try host.run("systemctl enable killswitchd t-web")
            try host.beginDrill("--for 1m")
            try host.run("systemctl kill --kill-whom=main --signal=KILL t-drill")
            try host.system.reboot()
            try host.awaitUp("killswitch-closed@shop.target")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            try host.awaitOpen("t-web", "t-slow")
            #expect(try host.journal(of: .overrideExpired).count == 1)
        }

        /// As when systemd or dbus is upgraded during a drill.
        @Test(arguments: ["daemon-reexec", "restart dbus"])
        func aConnectionToSystemdThatIsLostIsMadeAnew(_ command: String) throws {
            let host = try host()
            try host.beginDrill("--for 5m")
            try host.run("systemctl \(command)")
            try host.letGo()
            let end = try host.endOfDrill()
            #expect(end.status == 0, "\(end)")
            try host.awaitOpen("t-web", "t-slow")
        }

        @Test func readersThatGoAwayKeepNothingClosed() throws {
            let host = try host()
            try host.letGo()
            let status = try host.run(
                "bash -c 'killswitchctl drill shop |& true; echo ${PIPESTATUS[0]}'")
            // The report could not be written, and the gate is open again.
            #expect(status == "70\n")
            try host.awaitOpen("t-web", "t-slow")
            #expect(try host.journal(of: .overrideExpired).isEmpty)
        }
    }

    /// `killswitch-drill@SERVICE.service`, its timer, and what is kept of a drill.
    @Suite struct DrillTimerTests {
        private func kept(_ host: Host) throws -> JSON.Object {
            let status = try host.json("killswitchctl status shop --json")
            let service = status.object?["services"]?.array?.first?.object
            return service?["drill"]?.object ?? [:]
        }

        @Test func aGoodDrillIsKeptOverARestartAndTold() throws {
            let host = try Host.having("t-web")
            try host.open("t-web")
            #expect(try kept(host) == [:])
            try host.run("systemctl start killswitch-drill@shop.service")
            try host.awaitOpen("t-web")
            let drill = try kept(host)
            #expect(drill["problem"] == .null)
            #expect(drill["at"]?.string != nil && drill["at"] == drill["last_good"])
            #expect(
                try host.run("killswitchctl status").contains("shop: its last drill succeeded "))
            #expect(try host.sentences(of: .drilled).first?.hasSuffix("has succeeded") == true)
            try host.wait(
                until:
                    "grep -q '^killswitch_drill_success{service=\"shop\"} 1' /run/killswitchd/metrics.prom"
            )
            try host.run("systemctl restart killswitchd")
            #expect(try kept(host) == drill)
        }

        @Test func aDrillThatFailsIsAProblemUntilOneGoesWell() throws {
            let host = try Host()
            try host.deafService(limit: "1s")
            try host.open("t-deaf")
            let failed = try host.system.attempt("systemctl start killswitch-drill@shop.service")
            #expect(failed.status != 0)
            let text = "shop: its last drill has failed: t-deaf.service"
            #expect(try host.run("killswitchctl status").contains(text))
            #expect(try host.control("status --check").output.contains(text))
            #expect(try kept(host)["last_good"] == .null)
            #expect(try host.journal(of: .drilled).first?["PRIORITY"] == "3")
            try host.run("sed -i \"s/trap '' TERM; //\" /etc/systemd/system/t-deaf.service")
            try host.run("systemctl daemon-reload; systemctl restart t-deaf")
            try host.awaitOpen("t-deaf")
            try host.run("systemctl start killswitch-drill@shop.service")
            #expect(try !host.run("killswitchctl status").contains("its last drill has failed"))
        }

        @Test func aClosedServiceIsNotDrilled() throws {
            let host = try Host.having("t-web")
            try host.open("t-web")
            try host.set(Host.maintenance, down: "t-web")
            try host.run("systemctl start killswitch-drill@shop.service")
            #expect(try host.sentences(of: .drilled).isEmpty)
            #expect(
                try host.system.attempt("systemctl is-failed killswitch-drill@shop").status != 0)
            #expect(try kept(host) == [:])
        }

        @Test func theTimerIsOffAndEachHostHasItsTimeInTheMonth() throws {
            let host = try Host()
            let timer = "killswitch-drill@shop.timer"
            #expect(try host.system.attempt("systemctl is-enabled \(timer)").output == "disabled\n")
            try host.run("systemctl enable --now \(timer)")
            #expect(try host.property("RandomizedDelayUSec", of: timer) == "2w")
            #expect(try host.property("FixedRandomDelay", of: timer) == "yes")
            #expect(try host.property("NextElapseUSecRealtime", of: timer) != "")
            try host.run("systemctl disable --now \(timer)")
        }
    }
}
