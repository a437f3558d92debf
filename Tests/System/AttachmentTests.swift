import JSON
import Records
import Support
import Testing

extension OnSystemd {
    /// `killswitchctl attach`, `detach` and `units`.
    @Suite(.serialized)
    struct AttachmentTests {
        private static let files = "cd /etc/systemd/system && find . -path '*killswitch*' | sort"

        @Test func whatIsWrittenIsReadableAndWrittenOnce() throws {
            let host = try Host()
            try host.services("t-web")
            try host.unit("t-worker@.service", "[Service]\nExecStart=/bin/sleep infinity")
            try host.start(attaching: "t-web t-worker@3")
            let before = try host.run(Self.files)
            #expect(
                before == """
                    ./killswitch-open@shop.target.wants
                    ./killswitch-open@shop.target.wants/t-web.service
                    ./killswitch-open@shop.target.wants/t-worker@3.service
                    ./t-web.service.d/50-killswitch-shop.conf
                    ./t-worker@3.service.d/50-killswitch-shop.conf

                    """)
            #expect(
                try host.run("cat /etc/systemd/system/t-web.service.d/50-killswitch-shop.conf")
                    == """
                    # Written by: killswitchctl attach shop t-web.service
                    # "killswitchctl detach shop t-web.service" removes it.
                    [Unit]
                    # It stops with this target, and cannot be started without it.
                    Requisite=killswitch-open@shop.target
                    After=killswitch-open@shop.target

                    """)
            try host.run("killswitchctl attach shop t-web t-worker@3")
            #expect(try host.run(Self.files) == before)
        }

        @Test func detachLeavesNothingBehindAndStopsNothing() throws {
            let host = try Host()
            try host.services("t-web", "t-app")
            try host.run("systemctl daemon-reload; systemctl enable --now t-web t-app")
            let before = try host.run("cd /etc/systemd/system && find . | sort")
            try host.start(attaching: "t-web t-app")
            #expect(
                try host.run("killswitchctl detach shop t-web")
                    == "detached t-web.service from killswitch-open@shop.target\n")
            try host.run("killswitchctl detach --all shop")
            #expect(try host.run("cd /etc/systemd/system && find . | sort") == before)
            try host.set(Host.ended)
            try host.awaitUp("killswitch-closed@shop.target")
            #expect(try host.property("ActiveState", of: "t-web") == "active")
            #expect(try host.system.attempt("killswitchctl detach shop t-web").status == 1)
        }

        @Test func aDryRunPrintsWhatAttachWouldWriteAndChangesNothing() throws {
            let host = try Host()
            try host.services("t-web")
            try host.start()
            let printed = try host.run("killswitchctl attach --dry-run shop t-web")
            #expect(
                printed.contains("/etc/systemd/system/t-web.service.d/50-killswitch-shop.conf:"))
            #expect(printed.contains("Requisite=killswitch-open@shop.target"))
            #expect(
                printed.contains(
                    "/etc/systemd/system/killswitch-open@shop.target.wants/t-web.service -> "
                        + "/etc/systemd/system/t-web.service"))
            #expect(try host.run(Self.files) == "")
            #expect(try host.property("Requisite", of: "t-web") == "")
        }

        @Test(arguments: [
            Refusal(units: "dbus", saying: "killswitchd needs it"),
            Refusal(units: "dbus.socket", saying: "killswitchd needs it"),
            Refusal(units: "systemd-journald", saying: "it belongs to systemd"),
            Refusal(units: "killswitchd", saying: "it belongs to killswitchd itself"),
            Refusal(units: "t-sshd.service", isAllowed: true),
            Refusal(units: "ssh", saying: "it is a way into this host"),
            Refusal(units: "multi-user.target", saying: "is a target"),
            Refusal(units: "t-nosuch", saying: "there is no unit"),
            Refusal(units: "t-masked", saying: "cannot be used: masked"),
            Refusal(units: "'t web'", saying: "t web", status: 2),
            Refusal(units: "../../etc/passwd", saying: "passwd", status: 2),
            Refusal(units: "t-worker@.service", saying: "t-worker@.service", status: 2),
        ])
        func unitsAreRefused(_ refusal: Refusal) throws {
            let host = try Host()
            try host.services("t-web", "t-sshd", "ssh")
            try host.unit("t-worker@.service", "[Service]\nExecStart=/bin/sleep infinity")
            try host.run("ln -s /dev/null /etc/systemd/system/t-masked.service")
            try host.start()
            let result = try host.system.attempt("killswitchctl attach shop t-web \(refusal.units)")
            try host.run("rm /etc/systemd/system/ssh.service")
            #expect(result.status == refusal.status)
            #expect(result.errors.contains(refusal.saying))
            // All or nothing.
            #expect(try host.run(Self.files).isEmpty != refusal.isAllowed)
        }

        @Test func aServiceThatNobodyKnowsIsRefusedUnlessForced() throws {
            let host = try Host()
            try host.services("t-web")
            try host.start()
            let refused = try host.system.attempt("killswitchctl attach shpo t-web")
            #expect(refused.status == 4)
            #expect(refused.errors.contains("known: shop"))
            try host.run("killswitchctl attach --force shpo t-web")
            #expect(try host.run("killswitchctl units --orphans").contains("t-web.service"))
            try host.run("killswitchctl detach --all")
        }

        @Test func anybodyMayLookAndRootAloneMayAttach() throws {
            let host = try Host()
            try host.services("t-web")
            try host.start(attaching: "t-web")
            let nobody = "setpriv --reuid nobody --regid nogroup --clear-groups"
            #expect(try host.run("\(nobody) killswitchctl units").contains("t-web.service"))
            #expect(
                try host.run("\(nobody) killswitchctl attach --dry-run shop t-web")
                    .contains("Requisite="))
            for command in ["attach shop t-web", "detach shop t-web"] {
                let result = try host.system.attempt("\(nobody) killswitchctl \(command)")
                #expect(result.status == 5)
                #expect(result.errors.contains("needs root"))
            }
        }

        @Test func aUnitMovesToTheStateItIsAttachedToLast() throws {
            let host = try Host()
            try host.services("t-web")
            try host.start(attaching: "t-web")
            try host.run("killswitchctl attach --state maintenance shop t-web")
            #expect(
                try host.run(Self.files) == """
                    ./killswitch-maintenance@shop.target.wants
                    ./killswitch-maintenance@shop.target.wants/t-web.service
                    ./t-web.service.d/50-killswitch-shop.conf

                    """)
        }

        @Test func whatRequiresAUnitIsNamedAndAttachedWhenAsked() throws {
            let host = try Host()
            try host.services("t-web")
            try host.unit(
                "t-needy.service",
                "[Unit]\nRequires=t-web.service\n[Service]\nExecStart=/bin/sleep infinity")
            try host.run("systemctl daemon-reload; systemctl start t-needy")
            try host.start()
            let result = try host.system.attempt("killswitchctl attach shop t-web")
            #expect(result.errors.contains("'t-needy.service' requires 't-web.service'"))
            let printed = try host.run("killswitchctl attach --with-dependents shop t-web")
            #expect(printed.contains("attached t-needy.service"))
            try host.set(Host.ended)
            try host.awaitDown("t-web", "t-needy")
            try host.set(Host.open)
            try host.awaitUp("t-web", "t-needy")
        }

        @Test func aOneshotRunsAtOpeningOnlyWhenAsked() throws {
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
            try host.run("systemctl start t-once; test -e /run/t-once.ran")
        }

        /// It refuses connections while closed, and is itself at each opening.
        @Test func aSocketIsGatedWithItsServiceOverFiveFlips() throws {
            let host = try Host()
            try host.unit("t-echo.socket", "[Socket]\nListenStream=/run/t-echo.sock")
            try host.unit(
                "t-echo.service",
                """
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
                try host.set(Host.ended)
                try host.awaitDown("t-echo.socket", "t-echo.service")
                for _ in 1...3 { #expect(try host.system.attempt(talk).status != 0) }
                #expect(try host.property("ActiveState", of: "t-echo.socket") == "inactive")
                try host.set(Host.open)
                try host.awaitUp("t-echo.socket")
                #expect(try host.property("Result", of: "t-echo.socket") == "success")
            }
        }

        @Test func aTimerIsGatedWithItsServiceOverFiveFlips() throws {
            let host = try Host()
            try host.unit(
                "t-tick.timer",
                """
                [Timer]
                OnActiveSec=100ms
                OnUnitActiveSec=100ms
                AccuracySec=1ms
                """)
            try host.unit(
                "t-tick.service",
                """
                [Unit]
                StartLimitIntervalSec=0
                [Service]
                Type=oneshot
                ExecStart=/bin/sh -c "echo tick >> /run/t-ticks"
                """)
            try host.run("systemctl daemon-reload; systemctl start t-tick.timer")
            try host.start(attaching: "t-tick")
            for _ in 1...5 {
                let before = try host.run("wc -l < /run/t-ticks || echo 0").dropLast()
                try host.wait(until: "test $(wc -l < /run/t-ticks) -gt \(before)")
                try host.set(Host.ended)
                try host.awaitDown("t-tick.timer", "t-tick.service")
                let closed = try host.run("wc -l < /run/t-ticks")
                try host.awaitUp("killswitch-ended@shop.target")
                _ = try host.system.attempt("timeout 0.5 tail -f /dev/null")
                #expect(try host.run("wc -l < /run/t-ticks") == closed)
                try host.set(Host.open)
                try host.awaitUp("t-tick.timer")
            }
            #expect(try host.property("Result", of: "t-tick.service") == "success")
        }

        @Test func unitsTellsHowEachStands() throws {
            let host = try Host()
            try host.services("t-web")
            try host.start(attaching: "t-web")
            try host.set(Host.ended)
            try host.awaitUp("killswitch-ended@shop.target")
            try host.wait(until: "killswitchctl units | grep -q 'down *inactive'")
            let text = try host.run("killswitchctl units shop --json")
            let row = try #require(JSON.Value.parse(Array(text.utf8)).array?.first?.object)
            #expect(row["name"] == "t-web.service")
            #expect(row["service"] == "shop")
            #expect(row["target"] == "killswitch-open@shop.target")
            #expect(row["wanted"] == false)
            #expect(row["active"] == "inactive")
            #expect(row["problem"] == .null)
            #expect(row["orphan"] == false)
        }
    }

    struct Refusal: CustomTestStringConvertible {
        let units: String
        var saying = ""
        var status: Int32 = 1
        var isAllowed = false

        init(units: String, saying: String, status: Int32 = 1) {
            self.units = units
            self.saying = saying
            self.status = status
        }

        init(units: String, isAllowed: Bool) {
            self.units = units
            self.isAllowed = isAllowed
            status = 0
        }

        var testDescription: String { units }
    }
}
