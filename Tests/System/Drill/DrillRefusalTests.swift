import Storage
import Support
import Testing

extension OnSystemd {
    /// When a drill is refused, and the consent that it asks for.
    @Suite struct DrillRefusalTests {
        struct Refusal: CustomTestStringConvertible {
            let name: String
            /// A command that prepares the host, on which a drill would otherwise succeed.
            var making = "true"
            var command = "killswitchctl drill shop"
            let saying: String
            var status: Int32 = 1
            var testDescription: String { name }
        }

        /// The log entries about orders of a drill.
        private func orders(on host: Host) throws -> [String] {
            try host.sentences(of: .decided).filter { $0.contains("drill by killswitchctl") }
        }

        private static let nobody = "setpriv --reuid nobody --regid nogroup --clear-groups"
        private static let withoutGates =
            "printf '[Service]\\nExecStart=\\nExecStart=/usr/sbin/killswitchd\\n' "
            + "> /etc/systemd/system/killswitchd.service.d/test.conf; "
            + "systemctl daemon-reload; systemctl restart killswitchd"

        static let refusals = [
            Refusal(
                name: "closed for real",
                making: "echo '{\"state\": \"ended\"}' > /etc/killswitchd/shop.json; "
                    + "killswitchctl wait shop --for closed --timeout 10s",
                saying: "'shop' is ended; a drill needs an open gate"),
            Refusal(
                name: "forced",
                making: "killswitchctl open shop --for 1h --reason audit",
                saying: "'shop' is forced to running by root (uid 0) until "),
            Refusal(
                name: "without a unit", making: "killswitchctl detach shop t-web",
                saying: "no unit is attached to the open gate of 'shop'"),
            Refusal(
                name: "by somebody else than root", command: "\(nobody) killswitchctl drill shop",
                saying: "drill needs root", status: 5),
            Refusal(
                name: "an unknown service", command: "killswitchctl drill shpo",
                saying: "no such service 'shpo'; did you mean 'shop'?", status: 4),
            Refusal(
                name: "without a daemon", making: "systemctl stop killswitchd",
                saying: "killswitchd does not run", status: 69),
            Refusal(
                name: "by a daemon that moves no gates", making: withoutGates,
                saying: "killswitchd was started without --gates and moves no gate"),
            Refusal(
                name: "a state that leaves the gate open",
                making: "sed -i 's/^min_closed.*/&\\nupdate_required = \"open\"/' "
                    + "/etc/killswitchd/killswitchd.toml; killswitchctl reload",
                command: "killswitchctl drill shop --state update-required",
                saying: "state update-required leaves the gate of 'shop' open"),
            Refusal(
                name: "for no time", command: "killswitchctl drill shop --for 100ms",
                saying: "--for is 1s to 10m", status: 2),
            Refusal(
                name: "for long", command: "killswitchctl drill shop --for 11m",
                saying: "--for is 1s to 10m", status: 2),
        ]

        @Test(arguments: refusals) func aDrillThatIsRefusedTouchesNothing(_ refusal: Refusal) throws
        {
            let host = try Host.having("t-web")
            try host.override("RestartSec=0")
            try host.open("t-web")
            try host.run(refusal.making)
            let state = try host.property("InvocationID", of: "t-web")
            try host.system.attempt("\(refusal.command) < /dev/null").expect(
                refusal.status, errors: refusal.saying)
            #expect(try orders(on: host).isEmpty)
            #expect(try host.property("InvocationID", of: "t-web") == state)
        }

        @Test(arguments: [("y", 0), ("yes", 0), ("n", 1), ("", 1)])
        func atATerminalDrillAsksForConsent(_ answer: String, _ status: Int32) throws {
            let host = try Host.having("t-web", "t-app")
            try host.needyService()
            try host.open("t-web")
            let result = try host.system.attempt(
                """
                (until grep -qs 'now?' /run/t-typed; do sleep 0.05; done; echo '\(answer)') |
                    timeout 60 script -qefc 'killswitchctl drill shop' /run/t-typed
                """)
            #expect(result.status == status, "\(result)")
            let printed = result.output.replacing("\r\n", with: "\n")
            #expect(
                printed.hasPrefix(
                    """
                    a drill closes 'shop' for at most 10 s, as maintenance:
                      stops  t-web.service
                    close the gate now? [y/N]
                    """))
            #expect(printed.contains("nothing was changed") == (status != 0))
            #expect(try orders(on: host).count == (status == 0 ? 1 : 0))
        }

        @Test func theQuestionNamesWhatStopsAndWhatIsStarted() throws {
            let host = try Host.having("t-web", "t-app", "t-page")
            try host.needyService()
            try host.open("t-web t-app")
            try host.run("killswitchctl attach --state ended shop t-page")
            try host.run("systemctl start t-needy; systemctl stop t-app")
            let result = try host.system.attempt(
                "timeout 30 script -qec 'killswitchctl drill shop --state ended --for 20s' "
                    + "/dev/null < /dev/null")
            #expect(result.status == 1)
            #expect(
                result.output.replacing("\r\n", with: "\n").hasPrefix(
                    """
                    a drill closes 'shop' for at most 20 s, as ended:
                      stops                    t-web.service
                      stops with that          t-needy.service
                      is down, and is started  t-app.service
                      runs meanwhile           t-page.service
                    close the gate now? [y/N]
                    """), "\(result.output)")
        }
    }
}
