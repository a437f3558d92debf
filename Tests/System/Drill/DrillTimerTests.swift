import JSON
import Storage
import Support
import Testing

extension Drilled {
    /// `killswitch-drill@SERVICE.service`, its timer, and what is kept of a drill.
    @Suite(.serialized)
    struct DrillTimerTests {
        private func kept(_ host: Host) throws -> JSON.Object {
            let status = try JSON.Value.parse(try host.run("killswitchctl status shop --json"))
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
            #expect(try host.system.attempt("killswitchctl status --check").output.contains(text))
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
            #expect(
                try host.system.attempt("systemctl is-enabled \(timer)").output == "disabled\n")
            try host.run("systemctl enable --now \(timer)")
            #expect(try host.property("RandomizedDelayUSec", of: timer) == "2w")
            #expect(try host.property("FixedRandomDelay", of: timer) == "yes")
            #expect(try host.property("NextElapseUSecRealtime", of: timer) != "")
            try host.run("systemctl disable --now \(timer)")
        }
    }
}
