import Support
import Testing

extension OnSystemd {
    @Suite struct ObservedServiceTests {
        private static let observed = Host.service("shop", "enforce = false")

        /// Its units are listed, and run on until the service is enforced.
        @Test func noUnitIsTouchedUntilTheServiceIsEnforced() throws {
            let host = try Host(Self.observed, flags: Host.ended)
            try host.services("t-app")
            try host.start()
            try host.run("systemctl start t-app")
            let attached = try host.control("attach shop t-app").expect(0)
            #expect(
                attached.errors.contains(
                    "'shop' has 'enforce = false': its units are listed, and attached once it is enforced"
                ))
            #expect(try host.attachmentFiles == "")
            try host.run("killswitchctl status --check; systemctl is-active t-app")
            #expect(try host.system.attempt("ls /run/killswitchd/shop/targets").status != 0)
            try host.run("! systemctl is-active killswitch-closed@shop.target")
            try host.configure(Host.shop)
            try host.run("killswitchctl reload; killswitchctl wait shop --for down --timeout 1m")
            #expect(try host.run("systemctl show -P ActiveState t-app") == "inactive\n")
        }

        /// Behind an open gate they are detached. Behind a closed one they stay down, and a finding says what to type.
        @Test func aServiceThatIsOnlyObservedFromNowOnMovesNothing() throws {
            let host = try Host.running("t-app")
            try host.configure(Self.observed)
            try host.run("killswitchctl reload; systemctl is-active t-app")
            try host.wait(until: "! test -e /etc/systemd/system/t-app.service.d")
            try host.set(Host.ended)
            try host.wait(until: "killswitchctl status | grep -q 'would close'")
            try host.run("systemctl is-active t-app; killswitchctl status --check")
            try host.configure(Host.shop)
            try host.run("killswitchctl reload; killswitchctl wait shop --for down --timeout 1m")
            try host.configure(Self.observed)
            try host.run("killswitchctl reload; killswitchctl is-open shop")
            try host.wait(
                until: "killswitchctl status --check | grep -q \"has 'enforce = false', and units\""
            )
            #expect(try host.run("systemctl show -P ActiveState t-app") == "inactive\n")
            try host.run("killswitchctl detach --all shop")
            try host.wait(until: "killswitchctl status --check")
            try host.run("systemctl start t-app")
        }
    }
}
