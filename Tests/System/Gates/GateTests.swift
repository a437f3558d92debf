import JSON
import Storage
import Support
import Testing

extension OnSystemd {
    @Suite struct GateTests {
        @Test func aFlagClosesTwoServicesWithinASecondAndAHandStartIsRefused() throws {
            let host = try Host.having("t-web", "t-app")
            try host.run("systemctl daemon-reload; systemctl enable --now t-web t-app")
            try host.start(attaching: "t-web t-app")
            // The daemon can time the stop only of units that it follows already.
            try host.wait(
                until:
                    "test $(grep -c '\"active\": \"active\"' /run/killswitchd/shop/units.json) = 2")
            var times: [Int] = []
            // A busy machine is late now and then.
            for _ in 1...5 where times.isEmpty || times.max() ?? 0 >= 1_000_000 {
                if !times.isEmpty {
                    try host.set(Host.open)
                    try host.run("killswitchctl wait shop --for up --timeout 1m")
                }
                try host.set(
                    Host.ended, up: "killswitch-closed@shop.target", "killswitch-ended@shop.target",
                    down: "t-web", "t-app", "killswitch-open@shop.target")
                times = try ["t-web", "t-app"].map { unit in
                    let microseconds = try host.run(
                        """
                        down=$(systemctl show -P InactiveEnterTimestamp --timestamp=us \(unit))
                        flag=$(date -r /etc/killswitchd/shop.json +%s%6N)
                        echo -n $(( $(date -d "$down" +%s%6N) - flag ))
                        """)
                    return try #require(Int(microseconds))
                }
            }
            #expect(times.allSatisfy { (0..<1_000_000).contains($0) }, "\(times)")
            try host.wait(
                until:
                    "test $(grep -c 'took_ms\": [0-9]' /run/killswitchd/shop/units.json) = 2")
            let took = try host.row("t-web.service")?["took_ms"]?.number?.int64
            #expect(try #require(took) < 1000)
            let refused = try host.system.attempt("systemctl start t-web")
            #expect(refused.status != 0)
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
        }

        @Test func openingStartsTheAttachedUnits() throws {
            let host = try Host(flags: Host.ended)
            try host.services("t-web", "t-app")
            try host.start(attaching: "t-web t-app")
            try host.awaitUp("killswitch-closed@shop.target")
            try host.set(
                Host.open, up: "t-web", "t-app", "killswitch-open@shop.target",
                down: "killswitch-closed@shop.target", "killswitch-ended@shop.target")
        }

        /// Both units need one port: a start fails while the other unit runs.
        @Test func aPageRunsExactlyInMaintenanceAndNeverBesideTheService() throws {
            let host = try Host()
            for (name, other) in [("t-web", "t-page"), ("t-page", "t-web")] {
                try host.unit(
                    "\(name).service",
                    """
                    [Service]
                    ExecStartPre=/usr/bin/test ! -e /run/\(other).port
                    ExecStartPre=/bin/touch /run/\(name).port
                    ExecStart=/bin/sleep infinity
                    ExecStop=/bin/sleep 0.4
                    ExecStopPost=/bin/rm -f /run/\(name).port
                    """)
            }
            try host.start(attaching: "t-web")
            try host.run("killswitchctl attach --state maintenance shop t-page")
            try host.run("systemctl start t-web")
            for _ in 1...3 {
                try host.set(Host.maintenance, up: "t-page")
                #expect(try host.property("ActiveState", of: "t-web") == "inactive")
                #expect(try host.system.attempt("systemctl start t-web").status != 0)
                try host.set(Host.open, up: "t-web")
                #expect(try host.property("ActiveState", of: "t-page") == "inactive")
                #expect(try host.system.attempt("systemctl start t-page").status != 0)
            }
            try host.set(Host.ended, down: "t-web")
            #expect(try host.property("ActiveState", of: "t-page") == "inactive")
            #expect(try host.property("Result", of: "t-page") == "success")
            #expect(try host.property("Result", of: "t-web") == "success")
            #expect(try host.journal(of: .unitFailed).isEmpty)
        }

        @Test func aHundredUnitsStopAndStartInOneTransition() throws {
            let host = try Host()
            try host.unit("t-many@.service", "[Service]\nExecStart=/bin/sleep infinity")
            let units = (1...100).map { "t-many@\($0).service" }.joined(separator: " ")
            try host.start(attaching: units)
            try host.run("systemctl start \(units)")
            // The daemon waits only for units that it has seen up.
            let seen = "grep -c '\"active\": \"active\"' /run/killswitchd/shop/units.json"
            try host.wait(until: "test $(\(seen)) = 100")
            let count = "systemctl list-units 't-many@*' --state=active --no-legend | wc -l"
            #expect(try host.run(count) == "100\n")
            try host.set(Host.ended)
            try host.wait(until: "test $(\(count)) = 0")
            // A move that the next one overtakes has no log entry, so the test waits for each.
            let moves =
                "journalctl MESSAGE_ID=\(MessageID.gateMoved.rawValue) -o cat --since @\(host.start)"
            let reported = "journalctl --sync; \(moves) | grep -c ' more$'"
            try host.wait(until: "test $(\(reported)) = 1")
            try host.set(Host.open)
            try host.wait(until: "test $(\(count)) = 100")
            try host.wait(
                until: "test $(grep -c '\"wanted\": true' /run/killswitchd/shop/units.json) = 100")
            try host.wait(until: "test $(\(reported)) = 2")
            #expect(try host.property("NRestarts") == "0")
        }

        @Test func oneUnitOfTwoServicesRunsWhenBothAreOpen() throws {
            let host = try Host(Host.service("shop") + Host.service("mail"))
            try host.set(Host.open, of: "mail")
            try host.services("t-web")
            try host.start(attaching: "t-web")
            try host.run("killswitchctl attach mail t-web; systemctl start t-web")
            try host.set(Host.ended, of: "mail", down: "t-web")
            try host.set(Host.ended, up: "killswitch-closed@shop.target")
            try host.set(Host.open, up: "killswitch-open@shop.target")
            #expect(try host.system.attempt("systemctl start t-web").status != 0)
            try host.set(Host.open, of: "mail", up: "t-web")
            #expect(try host.journal(of: .unitFailed).isEmpty)
            #expect(try host.journal(of: .gateMoveFailed).isEmpty)
        }

        @Test func theJournalFindsEachMoveWithItsFieldsAndExplainsIt() throws {
            let host = try Host.running("t-web")
            // The daemon names only units that it knows. It once closed the gate before it had listed
            // this unit: the sentence in the journal had no unit then.
            try host.wait(until: "killswitchctl units shop | grep -qE 't-web.service +up +active'")
            try host.set(Host.maintenance, up: "killswitch-maintenance@shop.target")
            let id = MessageID.gateMoved.rawValue
            try host.wait(forEntry: "shop: gate closed in ")
            let entry = try #require(try host.journal(of: .gateMoved).last)
            #expect(entry["KILLSWITCH_SERVICE"]?.string == "shop")
            #expect(entry["KILLSWITCH_STATE"]?.string == "maintenance")
            #expect(entry["KILLSWITCH_GATE"]?.string == "closed")
            #expect(entry["PRIORITY"]?.string == "5")
            let sentence = try #require(entry["MESSAGE"]?.string)
            #expect(sentence.hasPrefix("shop: gate closed in "))
            #expect(sentence.contains("t-web.service"))
            let explained = try host.run("journalctl MESSAGE_ID=\(id) -x -n 1")
            #expect(explained.contains("Subject: The gate of service shop is closed"))
        }
    }

    /// Orders with `--wait` return when this order has had its effect, and nothing earlier or later counts.
    @Suite struct OrderEffectTests {
        /// A release was answered with 0 while `min_closed` kept the gate closed, and with 1 for a unit that
        /// systemd had killed at the closing an hour before.
        @Test func aReleaseWaitsForItsOwnEffectAndOldKillsDoNotCount() throws {
            let host = try Host(
                Host.shop.replacing("min_closed = \"0s\"", with: "min_closed = \"4s\""))
            try host.services("t-web")
            try host.deafService(limit: "1s")
            try host.startUnits("t-web t-deaf")
            try host.run("killswitchctl wait shop --for up --timeout 60s")
            let force = "killswitchctl close shop --for 1h --reason x --wait"
            // The kill is an effect of this order.
            try host.system.attempt(force).expect(
                1, errors: "unit 't-deaf.service': it did not stop within")
            // The same order again finds everything down.
            try host.system.attempt(force).expect(0, output: "that was before this order")
            // The gate closed less than 4 s ago, unless this machine is very slow: so close it anew.
            try host.run("killswitchctl release shop --wait")
            try host.awaitUp("t-web", "t-deaf")
            #expect(try host.system.attempt(force).status == 1)
            try host.control("release shop --wait").expect(
                0, output: "shop: its gate is open, all 2 units are up")
            #expect(try host.property("ActiveState", of: "t-web") == "active")
            #expect(try host.property("ActiveState", of: "t-deaf") == "active")
        }

        @Test func whatHappensToTheGateWhileAnOrderWaitsIsSaid() throws {
            let host = try Host(
                Host.shop.replacing("min_closed = \"0s\"", with: "min_closed = \"1h\""))
            try host.services("t-web")
            try host.startUnits("t-web")
            let force = "killswitchctl close shop --for 1h --reason x"
            try host.run("\(force) --wait")
            // min_closed keeps the gate closed; another order takes over meanwhile.
            try host.run("killswitchctl release shop --wait >/run/t-out 2>&1 & echo $! >/run/t-pid")
            try host.wait(until: "grep -q 'opens in 3[56][0-9][0-9] s' /run/t-out")
            #expect(
                try host.run("cat /run/t-out").contains(
                    ", its gate is closed, its unit is down, opens in "))
            #expect(
                try host.run("killswitchctl get shop reason_text").contains("(min_closed 3600 s)"))
            try host.run("killswitchctl close shop --state ended --for 1h --reason second")
            try host.wait(until: "! kill -0 $(cat /run/t-pid)")
            #expect(try host.run("cat /run/t-out").contains("shop: the order has not lasted: "))
            // The flags close it too: the release has no other effect, and says so.
            try host.set(Host.ended)
            try host.wait(until: "killswitchctl refresh >/dev/null")
            try host.control("release shop --wait").expect(
                0, output: "shop: released, but its flags keep it closed")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
        }
    }
}
