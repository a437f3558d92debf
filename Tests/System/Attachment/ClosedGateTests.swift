import JSON
import Storage
import Support
import Testing

extension OnSystemd {
    /// What people read who meet a closed gate.
    @Suite struct ClosedGateTests {
        @Test func attachToAClosedGateSaysThatTheUnitWasStopped() throws {
            let host = try Host(flags: Host.ended)
            try host.services("t-web", "t-idle")
            try host.start()
            try host.run("systemctl start t-web")
            let printed = try host.run("killswitchctl attach shop t-web t-idle")
            #expect(
                printed.hasSuffix("stopped t-web.service: the gate of 'shop' is closed (ended)\n"),
                "\(printed)")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            // Nobody stops a unit without the daemon, and nobody says so.
            try host.run(
                "killswitchctl detach --all; systemctl stop killswitchd; systemctl start t-web")
            let still = try host.run("killswitchctl attach shop t-web")
            #expect(
                still.contains(
                    "t-web.service still runs, and the gate of 'shop' is closed (ended); "))
            #expect(still.contains("is killswitchd running?"))
        }

        /// A user who types `systemctl start web` finds the kill switch in the journal and in `systemctl status`.
        @Test func aRefusedStartLeadsToTheKillSwitch() throws {
            let host = try Host()
            try host.unit(
                "t-web.service",
                "[Unit]\nDescription=The web shop, 100% ours\n[Service]\nExecStart=/bin/sleep infinity\n"
            )
            try host.start(attaching: "t-web")
            let title = "The web shop, 100% ours (kill switch: killswitchctl explain shop)"
            #expect(try host.property("Description", of: "t-web") == title)
            // A second attachment does not extend it once more.
            try host.run("killswitchctl attach shop t-web")
            #expect(try host.property("Description", of: "t-web") == title)
            try host.set(Host.maintenance, up: "killswitch-maintenance@shop.target")
            let refused = try host.system.attempt("systemctl start t-web")
            #expect(refused.status != 0)
            let status = try host.system.attempt("systemctl status t-web --no-pager").output
            #expect(status.contains(title) && status.contains("man:killswitchctl(1)"), "\(status)")
            let journal = try host.run("journalctl --sync; journalctl -n 50 --no-pager -t systemd")
            #expect(journal.contains("for t-web.service - \(title)"), "\(journal)")
            try host.run("killswitchctl detach --all")
            #expect(try host.property("Description", of: "t-web") == "The web shop, 100% ours")
        }

        /// systemctl says that an assertion has failed. In the journal the reason and the author are.
        @Test func aRefusedStartIsCountedAndToldWithServiceReasonAndAuthor() throws {
            let host = try Host.attached("t-web")
            try host.run("killswitchctl close shop --for 1h --reason 'disk swap'")
            try host.awaitUp("killswitch-maintenance@shop.target")
            let first = try host.system.attempt("systemctl start t-web")
            #expect(first.errors.contains("Assertion failed"), "\(first.errors)")
            try host.wait(
                until:
                    "journalctl --sync; journalctl MESSAGE_ID=\(MessageID.startRefused.rawValue) "
                    + "--since @\(host.start) | grep -q t-web.service")
            let sentence = try #require(try host.sentences(of: .startRefused).last)
            #expect(
                sentence.hasPrefix(
                    "shop: a start of unit 't-web.service' refused: the service is maintenance;"
                ), "\(sentence)")
            #expect(sentence.contains("disk swap") && sentence.contains("root"), "\(sentence)")
            let entry = try #require(try host.journal(of: .startRefused).last)
            #expect(entry["KILLSWITCH_AUTHOR"]?.string?.contains("root") == true)
            let hint = try host.run("journalctl -xe --no-pager")
            #expect(hint.contains(sentence), "\(hint)")
            #expect(
                hint.contains("The gate of service shop has refused to start unit t-web.service"))
            // More of them within the minute are counted, and are no entries of their own.
            for _ in 1...4 { _ = try host.system.attempt("systemctl start t-web") }
            try host.wait(for: "\"refused_starts\": 5", in: "shop/units.json")
            #expect(try host.journal(of: .startRefused).count == 1)
            let units = try host.run("killswitchctl units shop; killswitchctl status --check")
            #expect(
                units.contains(
                    "shop: the gate has refused 5 starts of t-web.service, the last at "),
                "\(units)")
            try host.wait(
                until: "grep -q 'refused_starts_total{service=\"shop\"} 5' "
                    + "/run/killswitchd/metrics.prom")
            // A start that an open gate carries out, or that fails by itself, is none of them.
            try host.run("killswitchctl release shop")
            try host.awaitUp("t-web")
            #expect(try host.row("t-web.service")?["refused_starts"]?.number?.int64 == 5)
        }

        /// The sandbox hides the processes of others: the client shows its login uid.
        @Test func anOrderBySudoIsRecordedAsThePersonInTheSandbox() throws {
            let host = try Host()
            try host.run("id t-alice 2>/dev/null || /usr/sbin/useradd --system t-alice")
            let user = try host.run("id -u t-alice").dropLast()
            try host.start()
            let author = "t-alice (login uid \(user), SUDO_USER) as root (uid 0)"
            let forced = try host.run(
                "echo \(user) > /proc/self/loginuid; SUDO_USER=t-alice killswitchctl close shop "
                    + "--for 1h --reason disk")
            #expect(forced.contains(" by \(author) until "), "\(forced)")
            #expect(
                try host.sentences(of: .decided).last?.contains("forced by '\(author)'") == true)
            #expect(try host.run("killswitchctl history shop").contains("t-alice"))
        }

        /// The state directory is 0700: a member of the group asks the daemon.
        @Test func aMemberOfTheGroupSeesTheWholeExplanation() throws {
            let host = try Host()
            try host.start()
            let text = try host.run(
                "setpriv --reuid nobody --regid nogroup --groups killswitchd killswitchctl explain shop"
            )
            #expect(text.contains("flags  ") && text.contains("policy"), "\(text)")
        }

        /// systemd makes the runtime directory: the daemon may not write in /run.
        @Test func deletedFilesComeBackAlsoWithTheirDirectory() throws {
            let host = try Host.running("t-web")
            for command in ["rm -rf /run/killswitchd/*", "rm -rf /run/killswitchd"] {
                try host.wait(until: "test -e /run/killswitchd/shop/units.json")
                _ = try host.system.attempt(command)
                try host.wait(
                    until:
                        "cd /run/killswitchd && test -e shop/open -a -e shop/state.json -a -S control.sock "
                        + "-a -e shop/units.json && killswitchctl release shop")
            }
            #expect(try host.property("ActiveState", of: "t-web") == "active")
        }
    }

    /// The dependents, sockets and timers of attached units, and oneshot services.
    @Suite struct CompanionTests {
        /// For more starts in ten seconds than systemd allows a unit. `min_closed` keeps a gate from that.
        private static let unlimited = "[Unit]\nStartLimitIntervalSec=0\n"

        @Test func dependentsAreNamedAndAttachedOnRequest() throws {
            let host = try Host.having("t-web")
            try host.needyService()
            try host.run("systemctl daemon-reload; systemctl start t-needy")
            try host.start()
            let result = try host.control("attach shop t-web")
            #expect(result.errors.contains("'t-needy.service' requires 't-web.service'"))
            let printed = try host.run("killswitchctl attach --with-dependents shop t-web")
            #expect(printed.contains("attached t-needy.service"))
            try host.set(Host.ended, down: "t-web", "t-needy")
            try host.set(Host.open, up: "t-web", "t-needy")
        }

        @Test func aOneshotRunsAtOpeningOnlyOnRequest() throws {
            let host = try Host(flags: Host.ended)
            for name in ["t-once", "t-asked"] {
                try host.unit(
                    "\(name).service",
                    "[Service]\nType=oneshot\nExecStart=/bin/touch /run/\(name).ran")
            }
            try host.start(attaching: "t-once")
            try host.run("killswitchctl attach --run-at-open shop t-asked")
            #expect(try host.system.attempt("systemctl start t-once").status != 0)
            try host.set(Host.open)
            try host.wait(until: "test -e /run/t-asked.ran")
            #expect(try host.system.attempt("test -e /run/t-once.ran").status == 1)
            // Its work is done: nothing is missing, although it is inactive.
            try host.wait(
                until: "killswitchctl status shop --check && killswitchctl status | grep -q ' 2/2 '"
            )
            try host.run("systemctl start t-once; test -e /run/t-once.ran")
        }

        /// The socket refuses connections while the gate is closed, and works after each opening.
        @Test func aSocketIsGatedWithItsServiceOverFiveFlips() throws {
            let host = try Host()
            try host.unit(
                "t-echo.socket", "\(Self.unlimited)[Socket]\nListenStream=/run/t-echo.sock")
            try host.unit(
                "t-echo.service",
                """
                \(Self.unlimited)
                [Service]
                ExecStart=/usr/bin/python3 -c "import socket; s = socket.socket(fileno=3); \
                    [c.sendall(b'hi') or c.close() for c, _ in iter(s.accept, None)]"
                """)
            try host.run("systemctl daemon-reload; systemctl start t-echo.socket")
            try host.start(attaching: "t-echo")
            let talk =
                "timeout 5 python3 -c \"import socket; s = socket.socket(socket.AF_UNIX); "
                + "s.connect('/run/t-echo.sock'); print(s.recv(9))\""
            for _ in 1...5 {
                try host.wait(until: "\(talk) | grep -q hi")
                try host.awaitUp("t-echo.service")
                try host.set(Host.ended, down: "t-echo.socket", "t-echo.service")
                for _ in 1...3 { #expect(try host.system.attempt(talk).status != 0) }
                #expect(try host.property("ActiveState", of: "t-echo.socket") == "inactive")
                // The gate keeps it down: it is in use all the same.
                #expect(try host.control("attach --from-configuration").output == "")
                try host.wait(until: "killswitchctl status --check")
                try host.set(Host.open, up: "t-echo.socket")
                #expect(try host.property("Result", of: "t-echo.socket") == "success")
            }
        }

        @Test func aTimerIsGatedWithItsServiceOverFiveFlips() throws {
            let host = try Host()
            try host.unit(
                "t-tick.timer",
                """
                \(Self.unlimited)
                [Timer]
                OnActiveSec=100ms
                OnUnitActiveSec=100ms
                AccuracySec=1ms
                """)
            try host.unit(
                "t-tick.service",
                """
                \(Self.unlimited)
                [Service]
                Type=oneshot
                ExecStart=/bin/sh -c "echo tick >> /run/t-ticks"
                """)
            try host.run("systemctl daemon-reload; systemctl start t-tick.timer")
            try host.start(attaching: "t-tick")
            for _ in 1...5 {
                let before = try host.run("wc -l < /run/t-ticks || echo 0").dropLast()
                try host.wait(until: "test $(wc -l < /run/t-ticks) -gt \(before)")
                try host.set(Host.ended, down: "t-tick.timer", "t-tick.service")
                let closed = try host.run("wc -l < /run/t-ticks")
                try host.awaitUp("killswitch-ended@shop.target")
                _ = try host.system.attempt("timeout 0.5 tail -f /dev/null")
                #expect(try host.run("wc -l < /run/t-ticks") == closed)
                try host.set(Host.open, up: "t-tick.timer")
            }
            // A closing may have ended a run, which counts until the next one.
            try host.wait(
                until: "systemctl show -P Result t-tick.service | grep -qx success")
        }
    }
}
