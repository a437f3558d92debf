import Storage
import Support
import Testing

extension OnSystemd {
    /// The host guard: units of held services run until an operator confirms.
    @Suite(.serialized)
    struct GuardTests {
        private static let configuration =
            ["a", "b", "c"].map { name in
                """
                [service.\(name)]
                source = "app"
                format = "switch"
                min_closed = "0s"

                """
            }.joined() + """
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
            #expect(try host.system.attempt("killswitchctl confirm b").status == 1)
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
                min_closed = "3s"
                """)
            try host.services("t-web")
            try host.startUnits("t-web")
            try host.set(Host.ended, down: "t-web")
            try host.set(Host.open)
            try host.wait(until: "killswitchctl get shop reason | grep -q min-closed")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            try host.awaitUp("t-web")
            let closed = try host.property(
                "ActiveEnterTimestampMonotonic", of: "killswitch-closed@shop.target")
            let opened = try host.property(
                "ActiveEnterTimestampMonotonic", of: "killswitch-open@shop.target")
            #expect(try #require(Int(opened)) - #require(Int(closed)) > 2_900_000)
        }
    }
}
