import JSON
import Records
import Support
import Testing

extension OnSystemd {
    /// Notices of ends and windows, and the units that pass them on.
    @Suite(.serialized)
    struct NoticeTests {
        /// A host whose service tells 31 days, and two seconds before an end. `t-mail@shop` passes it on.
        private func host() throws -> Host {
            let host = try Host(Host.service("shop", #"notify_before = ["31d", "2s"]"#))
            try host.unit(
                "t-mail@.service",
                """
                [Service]
                Type=oneshot
                EnvironmentFile=/run/killswitchd/%i/state.env
                ExecStart=/bin/sh -c 'echo "$KILLSWITCH_NOTICE_KIND: $KILLSWITCH_NOTICE" >> /run/t-told'
                """)
            try host.start()
            try host.run("killswitchctl attach --on notice shop t-mail@shop")
            return host
        }

        /// Flags of an end after so long, by the clock inside.
        private func countdown(_ host: Host, _ end: String) throws -> String {
            let time = String(try host.run("date -u -d '\(end)' +%Y-%m-%dT%H:%M:%SZ").dropLast())
            return #"{"state": "countdown", "ends_at": "\#(time)"}"#
        }

        private func awaitLines(_ count: Int, _ host: Host) throws {
            try host.wait(until: "test $(wc -l < /run/t-told) -ge \(count)")
            try host.wait(
                until:
                    "systemctl show killswitch-notice@shop.target -P ActiveState | grep -qx inactive"
            )
        }

        @Test func eachNoticeRunsTheUnitOnceAndTheGateDoesNotMove() throws {
            let host = try host()
            try host.set(try countdown(host, "10 days"))
            try awaitLines(1, host)
            try host.run("systemctl restart killswitchd; killswitchctl refresh")
            try host.set(Host.open)
            try awaitLines(2, host)
            let lines = try host.run("cat /run/t-told").split(separator: "\n")
            #expect(lines.count == 2)
            #expect(lines[0].hasPrefix("end: shop: it ends in 10 days, at 20"))
            #expect(lines[1].hasPrefix("end-cancelled: shop: its end of 20"))
            let entries = try host.journal(of: .noticeTold)
            #expect(
                entries.map { $0["KILLSWITCH_NOTICE_KIND"]?.string } == ["end", "end-cancelled"])
            #expect(entries[0]["KILLSWITCH_NOTICE_BEFORE"]?.string == "2678400")
            #expect(entries[0]["KILLSWITCH_SERVICE"]?.string == "shop")
            #expect(try host.run("killswitchctl get shop state") == "running\n")
            try host.run("systemctl is-active killswitch-open@shop.target")
            #expect(try host.sentences(of: .gateMovedElsewhere) == [])
        }

        @Test func aNoticeComesAtItsTimeAndTheEndAfterIt() throws {
            let host = try host()
            try host.set(try countdown(host, "5 seconds"))
            try awaitLines(2, host)
            try host.wait(until: "killswitchctl get shop state | grep -qx ended")
            let told = try host.journal(of: .noticeTold)
            #expect(told.map { $0["KILLSWITCH_NOTICE_BEFORE"]?.string } == ["2678400", "2"])
            #expect(try host.run("wc -l < /run/t-told") == "2\n")
            #expect(
                try host.run("cat /run/killswitchd/motd").contains(
                    "  shop is closed (ended) since 20"))
        }

        @Test func aUnitThatFailsIsNamedUntilItRunsWithoutAnError() throws {
            let host = try host()
            try host.run("mkdir /run/t-told")
            try host.set(try countdown(host, "10 days"))
            try host.wait(until: "killswitchctl units shop | grep -q 'it has failed: exit-code'")
            let check = try host.system.attempt("killswitchctl status --check")
            let lines = check.output + check.errors
            #expect(check.status == 1 && lines.contains("unit 't-mail@shop.service'"), "\(lines)")
            try host.run("rmdir /run/t-told")
            try host.set(Host.open)
            try awaitLines(1, host)
            try host.wait(until: "killswitchctl status --check")
            try host.wait(until: "! killswitchctl units shop | grep -q 'it has failed'")
        }

        @Test func attachedToNoticesAUnitRunsAtNoTransition() throws {
            let host = try host()
            #expect(
                try host.attachmentFiles.contains(
                    "./killswitch-notice@shop.target.wants/t-mail@shop.service"))
            try host.set(Host.maintenance)
            try host.awaitUp("killswitch-maintenance@shop.target")
            try host.set(Host.open)
            try host.awaitUp("killswitch-open@shop.target")
            #expect(try host.system.attempt("test -e /run/t-told").status == 1)
            // An operator tries the unit.
            try host.run("systemctl start killswitch-notice@shop.target")
            try awaitLines(1, host)
            try host.run("killswitchctl detach shop t-mail@shop.service")
            #expect(try host.attachmentFiles == "")
        }

        @Test(arguments: ["--state maintenance", "--run-at-open", "--early"])
        func otherTimesAreRefusedBesideNotices(_ option: String) throws {
            let host = try host()
            let result = try host.system.attempt(
                "killswitchctl attach --on notice \(option) shop t-mail@shop")
            #expect(result.status == 2)
        }
    }
}
