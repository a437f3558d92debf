import Storage
import Support
import Testing

extension Attached {
    /// Units that the configuration lists, attached by a unit of the package.
    @Suite(.serialized)
    struct ConfiguredUnitsTests {
        private static func listing(_ units: String) -> String {
            Host.service("shop", "units = [\(units)]")
        }

        /// Reloads the daemon with another configuration. That ends when its units are attached.
        private func reload(_ host: Host, _ units: String) throws {
            try list(units, host)
            try host.run("systemctl reload killswitchd")
        }

        private func list(_ units: String, _ host: Host) throws {
            try host.configure(Self.listing(units))
        }

        /// Once `killswitchctl reload` said "in force", attached nothing, and `wait --for down` ended with 0.
        @Test func aReloadAttachesWhoeverAskedForIt() throws {
            let host = try Host(flags: Host.ended)
            try host.services("t-web", "t-app", "t-api")
            try host.start()
            try host.run("killswitchctl wait shop --for down; systemctl start t-web t-app t-api")
            try list(#""t-web.service""#, host)
            let printed = try host.run("killswitchctl reload")
            #expect(printed.hasSuffix("\nattached t-web.service to 'shop'\n"), "\(printed)")
            try host.run("killswitchctl wait shop --for down --timeout 30s")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            try list(#""t-web.service", "t-app.service""#, host)
            try host.run("systemctl reload killswitchd; killswitchctl wait shop --for down")
            #expect(try host.property("ActiveState", of: "t-app") == "inactive")
            // Nobody waits for the answer to a signal.
            try list(#""t-web.service", "t-app.service", "t-api.service""#, host)
            try host.run("systemctl kill -s HUP killswitchd")
            try host.awaitDown("t-api")
            try host.wait(
                until: "killswitchctl wait shop --for down && killswitchctl status --check")
            #expect(try host.attachmentFiles.contains("t-api.service.d/"))
        }

        @Test func aListedUnitThatIsNotAttachedIsAProblemEverywhereAndNeverDown() throws {
            let host = try Host(flags: Host.ended)
            try host.start()
            try list(#""t-nosuch.service""#, host)
            let problem =
                "the configuration lists it, and it is not attached: there is no unit 't-nosuch.service'"
            try host.system.attempt("killswitchctl reload").expect(
                1, output: "shop: unit 't-nosuch.service': \(problem)\n")
            for command in [
                "status", "status --check", "explain shop", "units", "units --json",
                "wait shop --for down --timeout 30s",
            ] {
                let result = try host.system.attempt("killswitchctl \(command)")
                #expect((result.output + result.errors).contains(problem), "\(command): \(result)")
                let isRefused = command.hasPrefix("wait") || command == "status --check"
                #expect(result.status == (isRefused ? 1 : 0), "\(command)")
            }
            try host.wait(for: "killswitch_problems{kind=\"unit\"} 1", in: "metrics.prom")
            #expect(
                try host.sentences(of: .unitUnattached) == [
                    "shop: unit 't-nosuch.service': \(problem)"
                ])
            // Once there is such a unit, nothing remains.
            try host.services("t-nosuch")
            try host.run("systemctl start t-nosuch; systemctl daemon-reload")
            try host.wait(
                until: "killswitchctl status --check && killswitchctl wait shop --for down")
            #expect(try host.property("ActiveState", of: "t-nosuch") == "inactive")
        }

        @Test func theyAreAttachedAtTheStartAndFollowTheConfiguration() throws {
            let host = try Host(Self.listing(#""t-web.service""#))
            try host.services("t-web", "t-app")
            try host.start()
            try host.wait(until: "systemctl cat t-web | grep -q from-configuration")
            try host.run("systemctl start t-web")
            try host.set(Host.ended, down: "t-web")
            try host.set(Host.open, up: "t-web")
            try reload(host, #""t-app.service""#)
            try host.wait(until: "systemctl cat t-app | grep -q from-configuration")
            #expect(try !host.attachmentFiles.contains("t-web"))
            // It was not stopped by being detached.
            try host.run("systemctl is-active t-web")
        }

        @Test func aUnitThatSomebodyHasAttachedStaysAsItIs() throws {
            let host = try Host(Self.listing(#""t-web.service""#))
            try host.services("t-web", "t-app", "t-sorry")
            try host.start()
            try host.wait(until: "systemctl cat t-web | grep -q from-configuration")
            try host.run("killswitchctl attach shop t-app")
            try host.run("killswitchctl attach --state maintenance shop t-sorry")
            try reload(host, "")
            let files = try host.attachmentFiles
            #expect(files.contains("t-app.service.d/") && files.contains("t-sorry.service.d/"))
            #expect(!files.contains("t-web"))
            try host.system.attempt(
                """
                sed -i 's/units = .*/units = ["t-sorry.service"]/' /etc/killswitchd/killswitchd.toml
                killswitchctl attach --from-configuration
                """
            ).expect(1, errors: "is attached to killswitch-maintenance@shop.target")
        }

        /// The others are attached, nothing is detached, and the unit of the package fails in words.
        @Test func aUnitThatCannotBeAttachedIsNamed() throws {
            let host = try Host(Self.listing(#""t-web.service""#))
            try host.services("t-web", "t-app")
            try host.start()
            try host.wait(until: "systemctl cat t-web | grep -q from-configuration")
            try list(#""t-app.service", "t-nosuch.service""#, host)
            #expect(try host.system.attempt("systemctl reload killswitchd").status == 1)
            try host.wait(until: "systemctl is-failed killswitchd-attach.service")
            let files = try host.attachmentFiles
            #expect(files.contains("t-app.service.d/") && files.contains("t-web.service.d/"))
            #expect(
                try host.run("journalctl --sync; systemctl status killswitchd-attach || true")
                    .contains("'units' of service 'shop': there is no unit 't-nosuch.service'"))
            // Once it is there, the next reload attaches it and detaches what is listed no longer.
            try host.services("t-nosuch")
            try reload(host, #""t-app.service", "t-nosuch.service""#)
            try host.wait(
                until: "systemctl is-active killswitchd && ! systemctl is-failed killswitchd-attach"
            )
            #expect(try host.attachmentFiles.contains("t-nosuch.service.d/"))
            #expect(try !host.attachmentFiles.contains("t-web"))
        }

        @Test func whatIsAsConfiguredIsNotWrittenAgain() throws {
            let host = try Host(Self.listing(#""t-web.service""#))
            try host.services("t-web")
            try host.start()
            try host.wait(until: "systemctl cat t-web | grep -q from-configuration")
            let file = "/etc/systemd/system/t-web.service.d/50-killswitch-shop.conf"
            let inode = try host.run("stat -c %i \(file)")
            let report = try host.run("killswitchctl attach --from-configuration --json")
            #expect(
                report
                    == #"""
                    {
                      "dry_run": false,
                      "attached": [],
                      "detached": [],
                      "failed": []
                    }

                    """#)
            #expect(try host.run("stat -c %i \(file)") == inode)
            let detached = try host.system.attempt("killswitchctl detach shop t-web")
            #expect(detached.errors.contains("the configuration lists 't-web.service' in 'units'"))
        }

        @Test func aRefusedConfigurationAttachesNothing() throws {
            let host = try Host.having("t-web")
            try host.start()
            try host.configure(Self.listing(#""t-web.service""#) + "nonsense = 1\n")
            #expect(try host.system.attempt("systemctl reload killswitchd").status != 0)
            #expect(try host.attachmentFiles.isEmpty)
            #expect(
                try host.system.attempt("killswitchctl attach --from-configuration").status == 78)
        }
    }
}
