import Storage
import Support
import Testing

extension OnSystemd {
    @Suite struct CrowdTests {
        private static let count = 150
        private static let names = (0..<count).map { "s\($0)" }
        private static let configuration =
            """
            [source.app]
            type = "file"
            path = "/etc/killswitchd/app.json"

            """
            + names.map(service).joined()

        fileprivate static func service(_ name: String) -> String {
            "[service.\(name)]\nsource = \"app\"\nformat = \"switch\"\nmin_closed = \"0s\"\n"
        }

        /// So many calls at once are more than the bus lets wait for an answer: it refused the others, and
        /// their gates were closed one to sixty seconds later.
        @Test func allGatesOfOneFlagMoveWithoutARefusedCall() throws {
            let host = try Host(Self.configuration, flags: nil)
            try host.set(Host.open, of: "app")
            try host.unit("t-many@.service", "[Service]\nExecStart=/bin/sleep infinity")
            try host.run("systemctl daemon-reload")
            // They are attached before the daemon has decided anything: the configuration lists them.
            let lists = Self.names.map { "\($0) = [\"t-many@\($0).service\"]\n" }.joined()
            try host.system.write(
                "[attached]\n" + lists, to: "/etc/killswitchd/conf.d/attached.toml")
            let printed = try host.run("killswitchctl attach --from-configuration")
            #expect(printed.split(separator: "\n").count == Self.count)
            let (open, closed) = ("killswitch-open@*", "killswitch-closed@*")
            let count = { (pattern: String) in
                "$(systemctl list-units --plain --no-legend --state=active '\(pattern)' | wc -l)"
            }
            // Each gate that opens starts its unit: a start by hand before it would be refused.
            let up = "test \(count(open)),\(count("t-many@*")) = \(Self.count),\(Self.count)"
            try host.run("systemctl start killswitchd")
            try host.wait(until: up)
            try host.set(Host.ended, of: "app")
            try host.wait(until: "test \(count(closed)),\(count("t-many@*")) = \(Self.count),0")
            try host.set(Host.open, of: "app")
            try host.wait(until: up)
            #expect(try host.journal(of: .gateMoveFailed).isEmpty)
            #expect(try host.journal(of: .gateMovedElsewhere).isEmpty)
        }

        /// One that cannot be attached leaves every other as it is.
        @Test func nothingIsAttachedIfOneUnitIsNot() throws {
            let host = try Host(Host.service("shop"), flags: nil)
            try host.services("t-app")
            try host.run("systemctl daemon-reload")
            try host.control("attach shop t-app t-none").expect(
                1, errors: "there is no unit 't-none.service'")
            #expect(try host.attachmentFiles == "")
            #expect(try host.control("attach --renew shop t-app").status == 2)
            try host.configure("[service")
            #expect(try host.control("attach shop t-app").status == 78)
        }

        @Test func aServiceThatTheConfigurationNamesCanBeAttachedBeforeItIsDecided() throws {
            let host = try Host(flags: nil)
            try host.services("t-web")
            try host.run("systemctl daemon-reload")
            try host.run("killswitchctl attach shop t-web")
            #expect(try host.control("attach shpo t-web").status != 0)
        }
    }

    /// The host guard: units of held services run until an operator confirms.
    @Suite struct GuardTests {
        private static let configuration =
            ["a", "b", "c"].map(CrowdTests.service).joined() + """
                [source.app]
                type = "file"
                path = "/etc/killswitchd/shop.json"
                [limits]
                close_at_once = 2
                """

        private func host() throws -> Host {
            let host = try Host(Self.configuration)
            try host.services("t-a", "t-b", "t-c")
            try host.start()
            for name in ["a", "b", "c"] { try host.run("killswitchctl attach \(name) t-\(name)") }
            try host.run("systemctl start t-a t-b t-c")
            try host.set(Host.ended)
            try host.wait(until: "killswitchctl get a reason | grep -q closing-held")
            return host
        }

        @Test func tooManyThatWouldCloseAtOnceRunOnUntilSomebodyConfirms() throws {
            let host = try host()
            #expect(try host.run("systemctl is-active t-a t-b t-c") == "active\nactive\nactive\n")
            #expect(try host.journal(of: .closingHeld).count == 1)
            let one = try host.run("killswitchctl confirm b")
            #expect(one.hasPrefix("confirmed: b\n"))
            try host.awaitDown("t-b")
            #expect(try host.run("systemctl is-active t-a t-c") == "active\nactive\n")
            #expect(try host.control("confirm b").status == 1)
            // The two others are below the limit now, and stay held nevertheless.
            try host.run("systemctl restart killswitchd")
            #expect(try host.run("killswitchctl get a reason") == "closing-held\n")
            #expect(try host.run("systemctl is-active t-a t-c") == "active\nactive\n")
            try host.run("killswitchctl confirm --all")
            try host.awaitDown("t-a", "t-c")
        }

        @Test func onlyAnOperatorMayConfirm() throws {
            let host = try host()
            try host.system.attempt(
                "setpriv --reuid nobody --regid nogroup --clear-groups killswitchctl confirm --all"
            ).expect(5)
            #expect(try host.run("systemctl is-active t-a t-b t-c") == "active\nactive\nactive\n")
        }

        /// A closed gate reopens no sooner than `min_closed`, whatever the flags say.
        @Test func aGateThatClosedStaysClosedForAWhile() throws {
            let host = try Host(
                """
                [service.shop]
                source = "file:/etc/killswitchd/shop.json"
                format = "switch"
                min_closed = "10s"
                """)
            try host.services("t-web")
            try host.startUnits("t-web")
            let before = try host.run("cut -d ' ' -f 1 /proc/uptime").dropLast()
            try host.set(Host.ended, down: "t-web")
            try host.set(Host.open)
            try host.wait(until: "killswitchctl get shop reason | grep -q min-closed")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            try host.awaitUp("t-web")
            let opened = try host.property(
                "ActiveEnterTimestampMonotonic", of: "killswitch-open@shop.target")
            #expect(try #require(Double(opened)) / 1_000_000 - #require(Double(before)) >= 10)
        }
    }
}
