import JSON
import Storage
import Support
import Testing

extension OnSystemd {
    /// Units that do not stop or start as their gate wants.
    @Suite(.serialized)
    struct GateProblemTests {
        @Test func aServiceThatIgnoresSIGTERMIsKilledByItsOwnLimitAndTheDaemonSaysSo() throws {
            let host = try Host()
            try host.deafService(limit: "3s")
            try host.override("WatchdogSec=2s")
            try host.startUnits("t-deaf")
            try host.set(Host.ended)
            try host.wait(until: "systemctl is-failed --quiet t-deaf")
            #expect(try host.property("Result", of: "t-deaf") == "timeout")
            try host.wait(until: "grep -q killed /run/killswitchd/shop/units.json")
            #expect(
                try host.sentences(of: .unitKilled) == [
                    "shop: unit 't-deaf.service': it did not stop within its stop limit, and systemd "
                        + "killed it"
                ])
            #expect(try host.journal(of: .unitLate).isEmpty)
            #expect(try host.property("NRestarts") == "0")
            try host.awaitUp("killswitch-closed@shop.target")
        }

        /// The limit holds for each of the three steps of the stop, so that the stop takes longer than the
        /// limit.
        @Test func aServiceThatIsStillThereAfterItsLimitIsAnErrorThatNamesIt() throws {
            let host = try Host()
            try host.deafService(
                "t-slow", limit: "2s",
                "ExecStop=/bin/sleep infinity\nExecStopPost=/bin/sleep infinity")
            try host.startUnits("t-slow")
            try host.set(Host.ended)
            try host.wait(until: "systemctl status killswitchd | grep -q 'has not stopped within'")
            #expect(
                try host.sentences(of: .unitLate) == [
                    "shop: unit 't-slow.service': it has not stopped within its limit of 2 s"
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
                try host.sentences(of: .startWaits) == ["shop: unit 't-web.service': \(sentence)"])
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
            try host.wait(
                until:
                    "systemctl status killswitchd | grep -q \"it failed with result 'exit-code'\"")
            #expect(
                try host.sentences(of: .unitFailed) == [
                    "shop: unit 't-bad.service': it failed with result 'exit-code'"
                ])
            try host.wait(
                until: "grep -q \"failed with result 'exit\" /run/killswitchd/shop/units.json")
            #expect(
                try host.row("t-bad.service")?["problem"]?.string
                    == "it failed with result 'exit-code'")
        }
    }
}
