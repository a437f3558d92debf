import Support
import Testing

extension Attached {
    /// The dependents, sockets and timers of attached units, and oneshot services.
    @Suite(.serialized)
    struct CompanionTests {
        @Test func dependentsAreNamedAndAttachedOnRequest() throws {
            let host = try Host.having("t-web")
            try host.needyService()
            try host.run("systemctl daemon-reload; systemctl start t-needy")
            try host.start()
            let result = try host.system.attempt("killswitchctl attach shop t-web")
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
                try host.set(Host.ended, down: "t-echo.socket", "t-echo.service")
                for _ in 1...3 { #expect(try host.system.attempt(talk).status != 0) }
                #expect(try host.property("ActiveState", of: "t-echo.socket") == "inactive")
                try host.set(Host.open, up: "t-echo.socket")
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
                try host.set(Host.ended, down: "t-tick.timer", "t-tick.service")
                let closed = try host.run("wc -l < /run/t-ticks")
                try host.awaitUp("killswitch-ended@shop.target")
                _ = try host.system.attempt("timeout 0.5 tail -f /dev/null")
                #expect(try host.run("wc -l < /run/t-ticks") == closed)
                try host.set(Host.open, up: "t-tick.timer")
            }
            #expect(try host.property("Result", of: "t-tick.service") == "success")
        }
    }
}
