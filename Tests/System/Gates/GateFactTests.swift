import Decision
import JSON
import Storage
import Support
import Testing

extension OnSystemd {
    /// What every surface says of a gate that is not as decided, and how orders and waits follow it.
    @Suite struct GateFactTests {
        private func gate(_ host: Host) throws -> JSON.Object {
            try host.json("cat /run/killswitchd/shop/gate.json").object ?? [:]
        }

        @Test func downWaitsForTheLastUnitAndClosedForTheDecision() throws {
            let host = try Host.having("t-web")
            try host.heldService()
            try host.startUnits("t-web t-slow")
            try host.set(Host.ended)
            try host.run("killswitchctl wait shop --for closed --timeout 1m")
            #expect(try host.property("ActiveState", of: "t-slow") != "inactive")
            try host.wait(until: "killswitchctl status shop | grep -q 'closing 1/2'")
            try host.control("wait shop --for down --timeout 1ms").expect(
                124, errors: "its gate is closing, 1 of 2 units down")
            // A migration that begins now finds nothing running.
            let migration = "systemctl show -P ActiveState t-web t-slow"
            #expect(
                try host.lettingGo("killswitchctl run shop --for down -- \(migration)").output
                    == "inactive\n\ninactive\n")
            #expect(try gate(host)["actual"] == "closed")
            #expect(try host.run("killswitchctl status shop").contains(" closed "))
            try host.set(Host.open)
            try host.run("killswitchctl wait shop --for up --timeout 1m")
            #expect(try host.property("ActiveState", of: "t-web") == "active")
        }

        /// It once ended by what the daemon had written before the unit was attached.
        @Test func upWaitsForAUnitThatTheDaemonHasNotSeenYet() throws {
            let host = try Host.having("t-web", "t-late")
            try host.start(attaching: "t-web")
            try host.run("systemctl start t-web t-late")
            try host.run("killswitchctl wait shop --for up --timeout 1m")
            try host.run("killswitchctl attach --no-reload shop t-late")
            try host.control("wait shop --for up --timeout 500ms").expect(
                124, errors: "the daemon has not yet seen its unit 't-late.service'")
            try host.run("systemctl daemon-reload")
            try host.run("killswitchctl wait shop --for up --timeout 1m")
            #expect(try gate(host)["units"]?.object?["up"] == 2)
        }

        @Test func anOrderThatWaitsFollowsTheMoveUnitByUnit() throws {
            let host = try Host.having("t-web")
            try host.slowService(seconds: 2)
            try host.startUnits("t-web t-slow")
            // The daemon times only what it has seen up.
            try host.run("killswitchctl wait shop --for up --timeout 1m")
            let force = "killswitchctl close shop --state ended --reason test --for 1h"
            let forced = try host.run("\(force) --wait")
            #expect(try host.property("ActiveState", of: "t-slow") == "inactive")
            #expect(forced.contains("its gate is closing, "))
            let lines = forced.split(separator: "\n").map(String.init)
            #expect(lines.contains { $0.hasPrefix("shop: t-web.service is down after ") })
            #expect(lines.contains { $0.hasPrefix("shop: t-slow.service is down after ") })
            #expect(lines.last == "shop: its gate is closed, all 2 units are down")
            let object = try host.json("killswitchctl release shop --wait --json").object?["gate"]?
                .object
            #expect(object?["actual"] == "open")
            #expect(object?["units"]?.object?["up"] == 2)
        }

        @Test func anOrderThatWaitsNamesTheUnitThatPassesItsLimit() throws {
            let host = try Host()
            try host.deafService(limit: "1s")
            try host.startUnits("t-deaf")
            try host.control(
                "close shop --state ended --reason test --for 1h --wait"
            ).expect(1, errors: "shop: unit 't-deaf.service': it did not stop within")
        }

        @Test func aGateThatNobodyMovesIsSaidEverywhereAndMovedWhenTheMoverIsBack() throws {
            let host = try Host.running("t-web")
            try host.run("killswitchctl wait shop --for up --timeout 1m")
            let units = "killswitchd-gates.socket killswitchd-gates.service"
            try host.run("systemctl mask --runtime --now \(units)")
            let problem = "its gate cannot be moved: killswitchd-gates.service"
            let result = Result {
                let drilled = try host.control("drill shop --yes --for 5s")
                    .expect(1, errors: problem)
                #expect(!drilled.output.contains("failed"))
                try host.control("close shop --state ended --reason test --for 1h")
                    .expect(1, output: "0 of 1 unit down", "shop: \(problem)")
                for command in ["status", "units shop", "explain shop", "status --json"] {
                    let printed = try host.control("\(command)")
                    let words = printed.output + printed.errors
                    #expect(words.contains("which moves gates, does not answer"), "\(command)")
                }
                for wait in ["wait shop --for down", "run shop --for down -- true"] {
                    try host.control("\(wait)").expect(1, errors: problem)
                }
                #expect(try host.run("killswitchctl status shop").contains(" stuck "))
                // Longer than the unit may take to stop, if somebody had asked it to.
                try host.run(
                    "sed -i '/ExecStart/aTimeoutStopSec=1' /etc/systemd/system/t-web.service")
                try host.run("systemctl daemon-reload; timeout 5 tail -f /dev/null || true")
                #expect(try host.journal(of: .unitLate).isEmpty)
                #expect(try host.row("t-web.service")?["problem"] == .null)
            }
            // Its start is a look: it waits for no request.
            let start = try host.run(
                "systemctl unmask --runtime \(units); systemctl start \(units); cut -d ' ' -f 1 /proc/uptime"
            )
            try result.get()
            try host.run("killswitchctl wait shop --for closed --timeout 1m")
            try host.awaitDown("t-web")
            let down = try host.property("InactiveEnterTimestampMonotonic", of: "t-web")
            let begun = try #require(Double(start.dropLast()))
            let ended = try #require(Double(down)) / 1_000_000
            // Sooner than a request is repeated, which takes five seconds.
            #expect(ended - begun < 4.5)
            try host.wait(until: "killswitchctl wait shop --for down --timeout 20s")
        }

        @Test func aMoveWithoutABusIsMadeAndSeenWhenItsSocketIsBack() throws {
            let host = try Host.running("t-web")
            try host.run("killswitchctl wait shop --for up --timeout 1m")
            try host.run("systemctl stop dbus.socket dbus.service 2>/dev/null; true")
            let unknown = "what became of its gate is not known: "
            let result = Result {
                try host.control("close shop --state ended --reason test --for 1h")
                    .expect(1, output: unknown)
                try host.awaitDown("t-web")
                try host.control("wait shop --for down --timeout 1s").expect(124, errors: unknown)
            }
            try host.run("systemctl start dbus.socket")
            try result.get()
            try host.run("killswitchctl wait shop --for down --timeout 1m")
        }

        /// systemd forgets the drop-in of such a unit. The target still stops it, by a drop-in of its own.
        @Test(arguments: [
            (
                "rm /etc/systemd/system/t-web.service; systemctl daemon-reload",
                "its unit file is gone"
            ),
            ("systemctl mask --runtime t-web", "it is masked"),
        ])
        func aUnitThatSystemdHasLostIsReportedAndStoppedWithItsGate(
            _ loss: String, _ words: String
        ) throws {
            let host = try Host()
            try host.unit("t-web.service", "[Service]\nExecStart=/bin/sleep infinity")
            try host.startUnits("t-web")
            try host.run("killswitchctl wait shop --for up --timeout 1m")
            if words == "it is masked" {
                // A unit in /etc cannot be masked.
                try host.run(
                    "mkdir -p /run/t-kept; mv /etc/systemd/system/t-web.service /run/t-kept")
            }
            try host.run(loss)
            try host.undoing("systemctl unmask --runtime t-web") {
                try host.wait(until: "killswitchctl status | grep -q '\(words)'")
                #expect(
                    try host.sentences(of: .unitLost) == [
                        "unit 't-web.service' of 'shop': \(words)"
                    ])
                #expect(try host.run("systemctl is-active t-web") == "active\n")
                try host.set(Host.ended)
                try host.run("killswitchctl wait shop --for down --timeout 20s")
                #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            }
        }

        /// systemd reads its units again while the daemon still asks about the time before.
        @Test func aUnitThatSystemdLosesRightAfterItsAttachmentIsReported() throws {
            let host = try Host()
            for name in ["t-one", "t-two", "t-three", "t-four"] {
                try host.services(name)
                try host.run("systemctl daemon-reload; systemctl start \(name)")
                if name == "t-one" { try host.start() }
                try host.run(
                    "killswitchctl attach shop \(name); rm /etc/systemd/system/\(name).service; "
                        + "systemctl daemon-reload")
                let words = "unit '\(name).service' of 'shop': its unit file is gone"
                try host.wait(until: "killswitchctl status | grep -qF \"\(words)\"")
            }
        }

        /// Somebody has removed the target's drop-in for the unit.
        @Test func aLostUnitThatTheGateCannotStopIsNamedUntilSomebodyStopsIt() throws {
            let host = try Host.running("t-web")
            try host.run("killswitchctl wait shop --for up --timeout 1m")
            try host.run("rm -r /etc/systemd/system/killswitch-open@shop.target.d")
            try host.run("rm /etc/systemd/system/t-web.service; systemctl daemon-reload")
            try host.wait(until: "killswitchctl status | grep -q 'its unit file is gone'")
            let forced = try host.control("close shop --state ended --reason test --for 1h --wait")
            let problem = "it still runs although the gate is closed: its unit file is gone"
            #expect(forced.status == 1)
            #expect(forced.errors.contains("shop: unit 't-web.service': \(problem)"))
            #expect(try host.run("killswitchctl status").contains(" stuck "))
            #expect(try host.run("killswitchctl units").contains(problem))
            #expect(try host.control("wait shop --for down").status == 1)
            // It is down, and nothing ties it to its gate: somebody may start it.
            try host.run("systemctl stop t-web")
            try host.control("wait shop --for down --timeout 20s").expect(
                1, errors: "there is no unit 't-web.service'")
            try host.run(
                "killswitchctl detach shop t-web; killswitchctl wait shop --for down --timeout 20s")
        }
    }
}
