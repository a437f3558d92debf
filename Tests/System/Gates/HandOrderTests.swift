import Support
import Testing

extension OnSystemd {
    /// `open`, `close` and `plan` where gates are moved.
    @Suite struct HandOrderTests {
        @Test func aPersonAtATerminalSeesTheUnitsComeAndAScriptDoesNotWait() throws {
            let host = try Host(flags: Host.ended)
            try host.services("t-web")
            try host.start(attaching: "t-web")
            try host.awaitUp("killswitch-closed@shop.target")
            let order = "killswitchctl open shop -m x --for 1h"
            let shown = try host.run("script --quiet --return --command '\(order)' /dev/null")
            #expect(shown.contains("shop: forced to running by root (uid 0) until "), "\(shown)")
            #expect(shown.contains("shop: t-web.service is up"), "\(shown)")
            #expect(shown.contains("shop: its gate is open, its unit is up"), "\(shown)")
            try host.run("killswitchctl release shop --wait")
            #expect(try !host.run(order).contains("t-web.service is up"))
        }

        @Test func aWaitEndsAtItsTimeoutAndTheOrderStays() throws {
            let host = try Host()
            try host.slowService(seconds: 4)
            try host.startUnits("t-slow")
            try host.wait(for: "active\": \"active", in: "shop/units.json")
            try host.control("close shop -m x --for 1h --timeout 500ms").expect(
                124, errors: "the order is given, but not yet carried out: ")
            try host.control("is-open shop").expect(1)
            try host.awaitDown("t-slow")
        }

        /// The journal has the stop times, those of earlier tests too: the unit is of this test alone.
        /// Everybody may write to the journal, and journald says who did.
        @Test func aPlanKnowsHowLongAUnitTookToStopAndNobodyElseCanSaySo() throws {
            let host = try Host.attached("t-timed")
            try host.awaitUp("killswitch-open@shop.target")
            try host.run("systemctl start t-timed")
            try host.wait(for: "active\": \"active", in: "shop/units.json")
            try host.system.write(Host.ended, to: "/run/ended.json")
            let plan = "killswitchctl plan /run/ended.json"
            #expect(
                try host.run(plan).contains(
                    "  stops   t-timed.service (its stop was never measured)\n"))
            let known = "t-timed.service (stopped in"
            try host.set(Host.ended, down: "t-timed")
            // A move that the next one overtakes has no entry, and so no stop time.
            try host.wait(forEntry: "units stopped: t-timed.service")
            try host.set(Host.open, up: "t-timed")
            try host.wait(until: "journalctl --sync; \(plan) | grep -q '\(known)'")
            try host.run(
                """
                printf '%s\\n' MESSAGE_ID=\(MessageID.gateMoved.rawValue) KILLSWITCH_SERVICE=shop \
                KILLSWITCH_GATE=closed 'KILLSWITCH_TOOK=t-timed.service 99999' MESSAGE=forged |
                    setpriv --reuid nobody --clear-groups logger --journald
                journalctl --sync
                """)
            let told = try host.run(plan)
            #expect(told.contains(known) && !told.contains("99999"), "\(told)")
            // Who may not read the journal is told so.
            let other = try host.run("setpriv --reuid nobody --clear-groups \(plan)")
            #expect(other.contains("(the journal with its stop times cannot be read)"), "\(other)")
        }
    }
}
