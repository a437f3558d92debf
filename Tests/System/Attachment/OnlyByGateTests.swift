import Support
import Testing

extension OnSystemd {
    /// Units that nothing but the gate starts.
    @Suite struct OnlyByGateTests {
        private func enabled(_ host: Host, _ unit: String = "t-app") throws -> String {
            try host.system.attempt("systemctl is-enabled \(unit)").output
        }

        /// debhelper's program for maintainer scripts starts an enabled unit, and leaves a disabled one.
        @Test func packagesLeaveItAloneUntilItIsDetached() throws {
            let host = try Host()
            try host.services("t-app", "t-other")
            try host.run("systemctl daemon-reload; systemctl enable t-app")
            try host.start()
            let attached = try host.control("attach shop t-app t-other --only-by-gate").expect(0)
            let price = "is disabled until it is detached: 'systemctl isolate' stops it"
            #expect(attached.output.contains("t-app.service \(price)"), "\(attached)")
            #expect(!attached.output.contains("t-other.service \(price)"), "\(attached)")
            #expect(try enabled(host) == "disabled\n")
            try host.run("systemctl start t-app; killswitchctl status --check")
            try host.set(Host.maintenance, down: "t-app")
            let left = try host.system.attempt("deb-systemd-invoke start t-app.service")
            #expect(left.status == 0 && left.errors.contains("disabled"), "\(left)")
            try host.set(Host.open, up: "t-app", "t-other")
            // Somebody enables it, and the next run of the unit that attaches units takes that back.
            try host.run("systemctl enable t-app; killswitchctl reload")
            try host.run("systemctl start killswitchd-attach.service")
            #expect(try enabled(host) == "disabled\n")
            try host.run("killswitchctl detach shop t-app t-other; systemctl is-active t-app")
            #expect(try enabled(host) == "enabled\n")
            #expect(try enabled(host, "t-other") == "disabled\n")
            #expect(try host.attachmentFiles == "")
        }

        /// It stops no other unit from being attached, and letting it go.
        @Test func aUnitThatIsGoneStaysDisabledWithAWarning() throws {
            let host = try Host()
            try host.services("t-app", "t-other")
            try host.run("systemctl daemon-reload; systemctl enable t-app t-other")
            try host.start()
            try host.run("killswitchctl attach shop t-app t-other --only-by-gate")
            try host.run("rm /etc/systemd/system/t-app.service; systemctl daemon-reload")
            try host.control("attach --from-configuration")
                .expect(1, errors: "there is no unit 't-app.service'")
            #expect(try enabled(host, "t-other") == "disabled\n")
            try host.control("detach shop t-app").expect(0, errors: "it stays disabled")
            try host.run("killswitchctl detach shop t-other")
            #expect(try enabled(host, "t-other") == "enabled\n")
            #expect(try host.attachmentFiles == "")
        }

        @Test func theConfigurationAsksForItAndTakesItBack() throws {
            let unit = { (more: String) in
                Host.service("shop", "units = [{ unit = \"t-app.service\"\(more) }]")
            }
            let host = try Host(unit(", only_by_gate = true"))
            try host.services("t-app")
            try host.run("systemctl daemon-reload; systemctl enable t-app")
            try host.start()
            try host.wait(until: "systemctl is-enabled t-app | grep -qx disabled")
            try host.configure(unit(""))
            try host.run("killswitchctl reload")
            try host.wait(until: "systemctl is-enabled t-app | grep -qx enabled")
            try host.run("test -e /etc/systemd/system/t-app.service.d/50-killswitch-shop.conf")
            try host.configure(unit(", only_by_gate = true"))
            try host.run("killswitchctl reload")
            try host.wait(until: "systemctl is-enabled t-app | grep -qx disabled")
            // A package that is removed leaves nothing behind.
            try host.run("killswitchctl detach --all --keep-configuration")
            #expect(try enabled(host) == "enabled\n")
        }
    }
}
