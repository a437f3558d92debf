import JSON
import Storage
import Support
import Testing

extension OnSystemd {
    /// Administrators start and stop units, or move gates.
    @Suite(.serialized)
    struct GateDisturbanceTests {
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
                    "shop: unit 't-web.service': it ran although the gate is closed; killswitchd is stopping it"
                ])
        }

        @Test func aGateThatSomebodyElseMovedIsPutBackAndTheJournalSaysSo() throws {
            let host = try Host(flags: Host.ended)
            try host.services("t-web")
            try host.start(attaching: "t-web")
            try host.awaitUp("killswitch-closed@shop.target")
            try host.run("systemctl start killswitch-open@shop.target || true")
            try host.awaitUp("killswitch-closed@shop.target", "killswitch-ended@shop.target")
            try host.awaitDown("t-web")
            try host.wait(
                until:
                    "journalctl --sync; journalctl -u killswitchd | grep -q 'moves it back to closed'"
            )
            try host.set(Host.open, up: "t-web")
            try host.run("systemctl stop killswitch-open@shop.target")
            try host.awaitUp("killswitch-open@shop.target", "t-web")
            #expect(
                try host.sentences(of: .gateMovedElsewhere) == [
                    "shop: somebody else has moved the gate; killswitchd moves it back to closed",
                    "shop: somebody else has moved the gate; killswitchd moves it back to open",
                ])
        }
    }
}
