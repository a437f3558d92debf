import Storage
import Support
import Testing

extension OnSystemd {
    /// After a reboot attached units wait for the first decision.
    @Suite struct BootTests {
        private func host(_ more: String = "") throws -> Host {
            let host = try Host(Host.service("shop", more))
            try host.services("t-web")
            try host.unit(
                "t-needy.service",
                """
                [Unit]
                Requires=t-web.service
                After=t-web.service
                [Service]
                ExecStart=/bin/sleep infinity
                [Install]
                WantedBy=multi-user.target
                """)
            try host.run("systemctl daemon-reload; systemctl enable killswitchd t-web t-needy")
            try host.start(attaching: "t-web")
            try host.run("systemctl start t-web t-needy")
            return host
        }

        @Test func anOpenServiceStartsAfterTheFirstVerdictWithWhatRequiresIt() throws {
            let host = try host()
            try host.system.reboot()
            #expect(try host.property("ActiveState", of: "t-web") == "active")
            #expect(try host.property("ActiveState", of: "t-needy") == "active")
            let ready = try host.property("ActiveEnterTimestampMonotonic")
            let started = try host.property("ExecMainStartTimestampMonotonic", of: "t-web")
            #expect(try #require(Int(started)) >= #require(Int(ready)))
        }

        @Test func aClosedServiceStaysDown() throws {
            let host = try host()
            try host.set(Host.ended, down: "t-web")
            try host.system.reboot()
            try host.awaitUp("killswitch-closed@shop.target", "killswitch-ended@shop.target")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            // The boot has asked for its start, but nobody has.
            #expect(try host.journal(of: .startRefused).isEmpty)
            // A start counts as refused once the daemon has a bus.
            try host.run("killswitchctl wait shop --for down --timeout 1m")
            #expect(try host.system.attempt("systemctl start t-web").status != 0)
            try host.wait(for: "\"refused_starts\": 1", in: "shop/units.json")
            try host.set(Host.open, up: "t-web")
        }

        @Test func anUndecidedServiceStartsNothing() throws {
            let host = try host(#"first_timeout = "60s""#)
            try host.run("systemctl stop killswitchd; rm -r /var/lib/killswitchd")
            try host.run("rm /etc/killswitchd/shop.json; rm -r /run/killswitchd/shop")
            // Here the jobs of the boot wait for a decision, so that the boot does not end.
            try host.system.reboot(untilDone: false)
            try host.wait(until: "killswitchctl get shop state | grep -q undecided")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            #expect(
                try host.property("ActiveState", of: "killswitch-open@shop.target") == "inactive")
            #expect(
                try host.property("ActiveState", of: "killswitch-closed@shop.target") == "inactive")
            try host.set(Host.open, up: "t-web", "t-needy")
        }

        @Test(arguments: [
            Missing(name: "stored open flags", stored: Host.open, isUp: true),
            Missing(name: "stored closed flags", stored: Host.ended, isUp: false),
            Missing(name: "the policy open", policy: "open", isUp: true),
            Missing(name: "the policy closed", policy: "closed", isUp: false),
        ])
        func aSourceThatIsDownLeavesTheGateToStoredFlagsAndThenToPolicy(_ missing: Missing) throws {
            let host = try host("first_timeout = \"2s\"\nwhen_unknown = \"\(missing.policy)\"")
            if let stored = missing.stored {
                try host.set(stored)
                try host.wait(until: "killswitchctl get shop gate | grep -q \(missing.gate)")
            } else {
                try host.run("systemctl stop killswitchd; rm -r /var/lib/killswitchd")
            }
            try host.run("rm /etc/killswitchd/shop.json")
            try host.system.reboot()
            try host.awaitUp("killswitch-\(missing.gate)@shop.target")
            if missing.isUp {
                try host.awaitUp("t-web", "t-needy")
            } else {
                try host.awaitDown("t-web")
            }
        }

        @Test func aBrokenConfigurationAtBootLeavesTheKeptOneInForce() throws {
            let host = try host()
            try host.set(Host.ended, down: "t-web")
            try host.configure("[service.shop\n")
            try host.system.reboot()
            try host.awaitUp("killswitch-closed@shop.target")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            #expect(try host.run("systemctl status killswitchd").contains("configuration refused"))
            try host.set(Host.open, up: "t-web")
        }
    }

    struct Missing: CustomTestStringConvertible {
        let name: String
        var stored: String?
        var policy = "open"
        let isUp: Bool

        var gate: String { isUp ? "open" : "closed" }
        var testDescription: String { name }
    }

    @Suite struct SystemdReloadTests {
        @Test func aReloadThatChangesNothingMovesNothing() throws {
            let host = try Host.running("t-web")
            try host.run("systemctl stop t-web")
            try host.run("systemctl reload killswitchd")
            try host.wait(forEntry: "was read again")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
        }

        @Test func aBrokenFileMovesNothingAndTheGateGoesOn() throws {
            let host = try Host.running("t-web")
            try host.configure("[service.shop\n")
            try host.run("systemctl reload killswitchd || true")
            try host.wait(forStatus: "configuration refused")
            #expect(try host.property("ActiveState", of: "t-web") == "active")
            try host.set(Host.ended, down: "t-web")
        }

        @Test func aServiceThatIsAddedIsDecidedAndItsGateMoved() throws {
            let host = try Host.having("t-web")
            try host.start()
            try host.set(Host.ended, of: "mail")
            try host.run("killswitchctl attach --force mail t-web; systemctl start t-web || true")
            try host.configure(Host.shop + Host.service("mail"))
            try host.run("systemctl reload killswitchd")
            try host.awaitUp("killswitch-closed@mail.target", "killswitch-ended@mail.target")
            try host.set(Host.open, of: "mail", up: "t-web")
        }

        @Test func aServiceThatIsGoneMovesNoGateAndItsUnitsAreNamed() throws {
            let host = try Host(Host.service("shop") + Host.service("mail"))
            try host.set(Host.open, of: "mail")
            try host.services("t-web")
            try host.start()
            try host.run("killswitchctl attach mail t-web; systemctl start t-web")
            // Behind an open gate it is let go, and goes on like a unit that nobody has attached.
            try host.configure(Host.shop)
            try host.run("systemctl reload killswitchd")
            try host.wait(until: "! test -e /run/killswitchd/mail/state.json")
            try host.wait(until: "! test -e /etc/systemd/system/t-web.service.d")
            #expect(try host.property("ActiveState", of: "t-web") == "active")
            try host.run("systemctl restart t-web; killswitchctl status --check")
            // Behind a closed one it stays attached and down, and is named.
            try host.configure(Host.shop + Host.service("mail"))
            try host.run("systemctl reload killswitchd")
            try host.set(Host.ended, of: "mail", down: "t-web")
            try host.configure(Host.shop)
            try host.run("systemctl reload killswitchd")
            try host.wait(until: "killswitchctl units --orphans | grep -q t-web.service")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            #expect(try host.sentences(of: .unitsOrphaned).first?.contains("t-web.service") == true)
            #expect(try host.system.attempt("systemctl start t-web").status == 1)
            let told = try host.sentences(of: .unitsOrphaned).count
            try host.run("systemctl restart killswitchd")
            try host.wait(
                until: "journalctl --sync; test $(journalctl MESSAGE_ID="
                    + "\(MessageID.unitsOrphaned.rawValue) --since @\(host.start) -o cat | wc -l) "
                    + "-gt \(told)")
        }
    }
}
