import JSON
import Storage
import Support
import Testing

extension OnSystemd {
    /// Administrators start and stop units, or move gates.
    @Suite struct GateDisturbanceTests {
        @Test func aUnitThatTheAdministratorStoppedStaysStopped() throws {
            let host = try Host(
                """
                [source.app]
                type = "file"
                path = "/etc/killswitchd/shop.json"
                interval = "1s"

                [service.shop]
                source = "app"
                format = "switch"
                """)
            try host.services("t-web")
            try host.startUnits("t-web")
            try host.run("systemctl stop t-web")
            let mark = "stat -c %Y /run/killswitchd/source.app"
            for _ in 1...2 {
                let before = try host.run(mark)
                try host.wait(until: "test $(\(mark)) -gt \(before.dropLast())")
            }
            try host.run("systemctl restart killswitchd")
            let before = try host.run(mark)
            try host.wait(until: "test $(\(mark)) -gt \(before.dropLast())")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            #expect(try host.property("ActiveState", of: "killswitch-open@shop.target") == "active")
        }

        @Test func aUnitThatRanBeforeItWasAttachedIsStoppedByTheFirstClose() throws {
            let host = try Host.having("t-web")
            try host.run("systemctl daemon-reload; systemctl start t-web")
            let before = try host.property("InvocationID", of: "t-web")
            try host.start(attaching: "t-web")
            #expect(try host.property("InvocationID", of: "t-web") == before)
            try host.set(Host.ended, down: "t-web")
        }

        @Test func aUnitThatIsFoundRunningBehindAClosedGateIsStopped() throws {
            let host = try Host(flags: Host.ended)
            try host.services("t-web")
            try host.start()
            try host.awaitUp("killswitch-closed@shop.target")
            try host.run("systemctl start t-web; killswitchctl attach shop t-web")
            try host.awaitDown("t-web")
            #expect(
                try host.sentences(of: .unitIntruding) == [
                    "unit 't-web.service' of 'shop': it ran although the gate is closed; killswitchd is stopping it"
                ])
        }

        @Test func aGateThatSomebodyElseMovedIsPutBackAndTheJournalSaysSo() throws {
            let host = try Host(flags: Host.ended)
            try host.services("t-web")
            try host.start(attaching: "t-web")
            try host.run("killswitchctl wait shop --for down --timeout 1m")
            try host.run("systemctl start killswitch-open@shop.target || true")
            try host.awaitUp("killswitch-closed@shop.target", "killswitch-ended@shop.target")
            try host.awaitDown("t-web")
            try host.wait(forEntry: "moves it back to closed")
            try host.set(Host.open, up: "t-web")
            // While it moves the gate itself it puts nothing back.
            try host.wait(forEntry: "gate opened in")
            try host.run("systemctl stop killswitch-open@shop.target")
            try host.awaitUp("killswitch-open@shop.target", "t-web")
            #expect(
                try host.sentences(of: .gateMovedElsewhere) == [
                    "shop: somebody else has moved the gate; killswitchd moves it back to closed",
                    "shop: somebody else has moved the gate; killswitchd moves it back to open",
                ])
        }
    }

    /// Units that do not stop or start as their gate wants.
    @Suite struct GateProblemTests {
        @Test func aServiceThatIgnoresSIGTERMIsKilledByItsOwnLimitAndTheDaemonSaysSo() throws {
            let host = try Host()
            try host.deafService(limit: "3s")
            try host.override("WatchdogSec=6s")
            try host.startUnits("t-deaf")
            try host.set(Host.ended)
            try host.wait(until: "systemctl is-failed --quiet t-deaf")
            #expect(try host.property("Result", of: "t-deaf") == "timeout")
            try host.wait(until: "grep -q killed /run/killswitchd/shop/units.json")
            #expect(
                try host.sentences(of: .unitKilled) == [
                    "unit 't-deaf.service' of 'shop': it did not stop within its stop limit, and systemd "
                        + "killed it"
                ])
            #expect(try host.journal(of: .unitLate).isEmpty)
            #expect(try host.property("NRestarts") == "0")
            try host.awaitUp("killswitch-closed@shop.target")
        }

        /// The limit holds for each of the three steps of the stop, so that the stop takes longer than the limit.
        @Test func aServiceThatIsStillThereAfterItsLimitIsAnErrorThatNamesIt() throws {
            let host = try Host()
            try host.deafService(
                "t-slow", limit: "2s",
                "ExecStop=/bin/sleep infinity\nExecStopPost=/bin/sleep infinity")
            try host.startUnits("t-slow")
            try host.set(Host.ended)
            try host.wait(forStatus: "has not stopped within")
            #expect(
                try host.sentences(of: .unitLate) == [
                    "unit 't-slow.service' of 'shop': it has not stopped within its limit of 2 s"
                ])
            #expect(try host.run("killswitchctl units shop").contains("has not stopped within"))
            try host.awaitDown("t-slow")
            try host.awaitUp("killswitch-closed@shop.target")
        }

        /// systemd holds the start behind the stop: it would wait without a word.
        @Test func aStartThatWaitsForTheClosingSaysForWhichUnit() throws {
            let host = try Host.having("t-web")
            try host.deafService(limit: "infinity")
            try host.startUnits("t-web t-deaf")
            try host.set(Host.ended, down: "t-web")
            try host.run("systemctl start --no-block t-web")
            let sentence =
                "a start of it waits until unit 't-deaf.service' has stopped, and is refused then"
            try host.wait(until: "killswitchctl units shop | grep -q \"\(sentence)\"")
            #expect(
                try host.sentences(of: .startWaits) == [
                    "unit 't-web.service' of 'shop': \(sentence)"
                ])
            #expect(try host.journal(of: .startRefused).isEmpty)
            try host.run("systemctl kill --signal=KILL t-deaf")
            try host.run("killswitchctl wait shop --for down --timeout 2m")
            try host.wait(for: "\"refused_starts\": 1", in: "shop/units.json")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            try host.wait(until: "! killswitchctl units shop | grep -q 'a start of it waits'")
        }

        @Test func aUnitThatFailsBehindAnOpenGateIsAnErrorWithItsResult() throws {
            let host = try Host(flags: Host.ended)
            try host.unit("t-bad.service", "[Service]\nExecStart=/bin/false")
            try host.start(attaching: "t-bad")
            try host.set(Host.open)
            try host.wait(forStatus: "it failed with result 'exit-code'")
            #expect(
                try host.sentences(of: .unitFailed) == [
                    "unit 't-bad.service' of 'shop': it failed with result 'exit-code'"
                ])
            try host.wait(
                until: "grep -q \"failed with result 'exit\" /run/killswitchd/shop/units.json")
            #expect(
                try host.row("t-bad.service")?["problem"]?.string
                    == "it failed with result 'exit-code'")
        }
    }

    /// An attached unit hangs in its stop. systemd lets a start wait for every ordered stop: the daemon was ordered
    /// before the gates, so that it stayed dead once it was killed, and a reload waited without an end.
    @Suite struct HungStopTests {
        /// A unit that ignores SIGTERM, and has no limit for its stop.
        static let unit = """
            [Service]
            Type=notify
            NotifyAccess=all
            ExecStart=/bin/sh -c 'trap "" TERM; systemd-notify --ready; exec sleep infinity'
            TimeoutStopSec=infinity
            """
        /// Ends every such unit.
        static let release = "systemctl kill --signal KILL 't-hung*' 2>/dev/null || true"

        @Test func theDaemonIsKilledReloadedAndRestartedAndCarriesOutOtherOrders() throws {
            let host = try Host(Host.shop + Host.service("mail"))
            defer { do { try host.run(Self.release) } catch {} }
            try host.set(Host.open, of: "mail")
            try host.services("t-web", "t-mail")
            try host.unit("t-hung.service", Self.unit)
            try host.start(attaching: "t-web t-hung")
            try host.run("killswitchctl attach mail t-mail; systemctl start t-web t-hung t-mail")
            for side in ["Before", "After"] {
                let ordered = try host.property(side, of: "killswitchd")
                #expect(
                    !ordered.contains("killswitch-") && !ordered.contains(" t-"),
                    "\(side)=\(ordered)")
            }
            try host.set(Host.ended, down: "t-web")
            let isHung = "systemctl show t-hung -P ActiveState | grep -qx deactivating"
            try host.wait(until: isHung)

            try host.run("systemctl kill --signal KILL killswitchd; date +%s%N > /run/t-killed")
            try host.set(Host.ended, of: "mail", down: "t-mail")
            let took = try host.run("echo $((($(date +%s%N) - $(cat /run/t-killed)) / 1000000))")
            print("from the kill of the daemon to the stop of a unit: \(took.dropLast()) ms")
            try host.awaitUp("killswitch-closed@mail.target")

            for verb in ["reload", "restart"] {
                let took = try host.run(
                    """
                    start=$(date +%s%N)
                    timeout 60 systemctl \(verb) killswitchd
                    echo $((($(date +%s%N) - start) / 1000000))
                    """)
                print("\(verb): \(took.dropLast()) ms")
            }
            try host.set(Host.open, of: "mail", up: "t-mail")
            try host.run(isHung)
            // Its stop would wait for the unit, and the daemon for that stop.
            #expect(
                try host.system.attempt("systemctl stop killswitchd-decided.target").status != 0)
            try host.run(Self.release)
            try host.awaitUp("killswitch-closed@shop.target")
            try host.awaitDown("t-hung")
        }
    }
}
