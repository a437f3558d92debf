import Support
import Testing

extension OnSystemd {
    /// Orders with `--wait` return when this order has had its effect, and nothing earlier or later counts.
    @Suite(.serialized)
    struct OrderEffectTests {
        /// A release was answered with 0 while `min_closed` kept the gate closed, and with 1 for a unit that
        /// systemd had killed at the closing an hour before.
        @Test func aReleaseWaitsForItsOwnEffectAndOldKillsDoNotCount() throws {
            let host = try Host(
                Host.shop.replacing("min_closed = \"0s\"", with: "min_closed = \"4s\""))
            try host.services("t-web")
            try host.deafService(limit: "1s")
            try host.startUnits("t-web t-deaf")
            try host.run("killswitchctl wait shop --for up --timeout 60s")
            let force = "killswitchctl force shop maintenance --for 1h --reason x --wait"
            // The kill is an effect of this order.
            try host.system.attempt(force).expect(
                1, errors: "unit 't-deaf.service': it did not stop within")
            // The same order again finds everything down.
            try host.system.attempt(force).expect(0, output: "that was before this order")
            // The gate closed less than 4 s ago, unless this machine is very slow: so close it anew.
            try host.run("killswitchctl release shop --wait")
            try host.awaitUp("t-web", "t-deaf")
            #expect(try host.system.attempt(force).status == 1)
            try host.system.attempt("killswitchctl release shop --wait").expect(
                0, output: "shop: its gate is open, all 2 units are up")
            #expect(try host.property("ActiveState", of: "t-web") == "active")
            #expect(try host.property("ActiveState", of: "t-deaf") == "active")
        }

        @Test func whatHappensToTheGateWhileAnOrderWaitsIsSaid() throws {
            let host = try Host(
                Host.shop.replacing("min_closed = \"0s\"", with: "min_closed = \"1h\""))
            try host.services("t-web")
            try host.startUnits("t-web")
            let force = "killswitchctl force shop maintenance --for 1h --reason x"
            try host.run("\(force) --wait")
            // min_closed keeps the gate closed; another order takes over meanwhile.
            try host.run("killswitchctl release shop --wait >/run/t-out 2>&1 & echo $! >/run/t-pid")
            try host.wait(until: "grep -q 'opens in 3[56][0-9][0-9] s' /run/t-out")
            #expect(
                try host.run("cat /run/t-out").contains(
                    ", its gate is closed, its unit is down, opens in "))
            #expect(
                try host.run("killswitchctl get shop reason_text").contains("(min_closed 3600 s)"))
            try host.run("killswitchctl force shop ended --for 1h --reason second")
            try host.wait(until: "! kill -0 $(cat /run/t-pid)")
            #expect(
                try host.run("cat /run/t-out").contains("shop: the order has not lasted: "))
            // The flags close it too: the release has no other effect, and says so.
            try host.set(Host.ended)
            try host.wait(until: "killswitchctl refresh >/dev/null")
            try host.system.attempt("killswitchctl release shop --wait").expect(
                0, output: "shop: released, but its flags keep it closed")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
        }
    }
}
