import Storage
import Support
import Testing

extension OnSystemd {
    @Suite struct ConfiguredUnitsTests {
        private static func listing(_ units: String...) -> String { listing(units) }

        private static func listing(_ units: [String]) -> String {
            Host.service("shop", "units = \(units)")
        }

        /// A host whose configuration lists `t-web`, which is attached by that, and these services.
        private func attachedHost(_ services: String...) throws -> Host {
            let host = try Host(Self.listing("t-web.service"))
            for name in ["t-web"] + services { try host.services(name) }
            try host.start()
            try host.wait(until: "systemctl cat t-web | grep -q from-configuration")
            return host
        }

        /// Reloads the daemon with another configuration. That ends when its units are attached.
        private func reload(_ host: Host, _ units: String...) throws {
            try host.configure(Self.listing(units))
            try host.run("systemctl reload killswitchd")
        }

        /// Once `killswitchctl reload` said "in force", attached nothing, and `wait --for down` ended with 0.
        @Test func aReloadAttachesWhoeverAskedForIt() throws {
            let host = try Host(flags: Host.ended)
            try host.services("t-web", "t-app", "t-api")
            try host.start()
            try host.run("killswitchctl wait shop --for down; systemctl start t-web t-app t-api")
            try host.configure(Self.listing("t-web.service"))
            let printed = try host.run("killswitchctl reload")
            #expect(printed.hasSuffix("\nattached t-web.service to 'shop'\n"), "\(printed)")
            try host.run("killswitchctl wait shop --for down --timeout 30s")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            try host.configure(Self.listing("t-web.service", "t-app.service"))
            try host.run("systemctl reload killswitchd; killswitchctl wait shop --for down")
            #expect(try host.property("ActiveState", of: "t-app") == "inactive")
            // Nobody waits for the answer to a signal.
            try host.configure(Self.listing("t-web.service", "t-app.service", "t-api.service"))
            try host.run("systemctl kill -s HUP killswitchd")
            try host.awaitDown("t-api")
            try host.wait(
                until: "killswitchctl wait shop --for down && killswitchctl status --check")
            #expect(try host.attachmentFiles.contains("t-api.service.d/"))
        }

        @Test func aListedUnitThatIsNotAttachedIsAProblemEverywhereAndNeverDown() throws {
            let host = try Host(flags: Host.ended)
            try host.start()
            try host.configure(Self.listing("t-nosuch.service"))
            let problem =
                "the configuration lists it, and it is not attached: there is no unit 't-nosuch.service'"
            try host.control("reload").expect(
                1, output: "shop: unit 't-nosuch.service': \(problem)\n")
            for command in [
                "status", "status --check", "explain shop", "units", "units --json",
                "wait shop --for down --timeout 30s",
            ] {
                let result = try host.control("\(command)")
                #expect((result.output + result.errors).contains(problem), "\(command): \(result)")
                let isRefused = command.hasPrefix("wait") || command == "status --check"
                #expect(result.status == (isRefused ? 1 : 0), "\(command)")
            }
            try host.wait(
                for: "killswitch_problems{kind=\"unit-unattached\"} 1", in: "metrics.prom")
            #expect(
                try host.sentences(of: .unitUnattached) == [
                    "unit 't-nosuch.service' of 'shop': \(problem)"
                ])
            // Once there is such a unit, nothing remains.
            try host.services("t-nosuch")
            try host.run("systemctl start t-nosuch; systemctl daemon-reload")
            try host.wait(
                until: "killswitchctl status --check && killswitchctl wait shop --for down")
            #expect(try host.property("ActiveState", of: "t-nosuch") == "inactive")
        }

        @Test func theyAreAttachedAtTheStartAndFollowTheConfiguration() throws {
            let host = try attachedHost("t-app")
            try host.run("systemctl start t-web")
            try host.set(Host.ended, down: "t-web")
            try host.set(Host.open, up: "t-web")
            try reload(host, "t-app.service")
            try host.wait(until: "systemctl cat t-app | grep -q from-configuration")
            #expect(try !host.attachmentFiles.contains("t-web"))
            // It was not stopped by being detached.
            try host.run("systemctl is-active t-web")
        }

        /// What the command attaches is in a file of the configuration, whose lists add up with the others.
        @Test func whatTheCommandAttachesIsListedToo() throws {
            let host = try attachedHost("t-app", "t-sorry")
            try host.run("killswitchctl attach shop t-app t-web")
            try host.run("killswitchctl attach --state maintenance shop t-sorry")
            let list = "/etc/killswitchd/conf.d/attached.toml"
            #expect(
                try host.run("grep -v '^#' \(list)") == """
                    [attached]
                    shop = [
                        "t-app.service",
                        { unit = "t-sorry.service", state = "maintenance" },
                    ]

                    """)
            try reload(host)
            let files = try host.attachmentFiles
            #expect(files.contains("t-app.service.d/") && files.contains("t-sorry.service.d/"))
            #expect(!files.contains("t-web"))
            // Whoever edits the file has it in force with the next reload.
            try host.run("sed -i /t-app/d \(list); killswitchctl reload")
            #expect(try !host.attachmentFiles.contains("t-app"))
            try host.run("killswitchctl detach --all shop; test ! -e \(list)")
            #expect(try host.attachmentFiles.isEmpty)
            try host.system.write("[limits]\n", to: list)
            try host.control("attach shop t-app").expect(
                78, errors: "\(list):1:2: 'killswitchctl attach' writes this file")
        }

        /// A change of the configuration starts nothing.
        @Test func aUnitThatIsListedNoLongerStaysAttachedWhileItsGateIsClosed() throws {
            let host = try attachedHost("t-app")
            try host.run("systemctl start t-web")
            try host.set(Host.ended, down: "t-web")
            try reload(host, "t-app.service")
            #expect(try host.attachmentFiles.contains("t-web.service.d/"))
            try host.wait(until: "killswitchctl status | grep -q 'lists them no longer'")
            #expect(try host.system.attempt("systemctl start t-web").status == 1)
            let detached = try host.run("killswitchctl detach shop t-web")
            #expect(detached.contains("to start it: systemctl start t-web.service"))
            try host.wait(until: "killswitchctl status --check")
            try host.run("systemctl start t-web")
        }

        /// A way out must not need a valid configuration, and what it lets go is not lost.
        @Test func aUnitIsDetachedBesideABrokenConfiguration() throws {
            let host = try Host.attached("t-web")
            try host.run("echo 'nonsense = 1' >> /etc/killswitchd/killswitchd.toml")
            let detached = try host.control("detach shop t-web")
            #expect(detached.status == 0 && detached.errors.contains("unknown key 'nonsense'"))
            #expect(try host.attachmentFiles.isEmpty)
            try host.run("systemctl daemon-reload")
            try host.wait(until: "killswitchctl units shop 2>&1 | grep -q 'no unit is attached'")
            #expect(try host.sentences(of: .unitUntied) == [])
        }

        /// The others are attached, nothing is detached, and the unit of the package fails in words.
        @Test func aUnitThatCannotBeAttachedIsNamed() throws {
            let host = try attachedHost("t-app")
            try host.configure(Self.listing("t-app.service", "t-nosuch.service"))
            #expect(try host.system.attempt("systemctl reload killswitchd").status == 1)
            try host.wait(until: "systemctl is-failed killswitchd-attach.service")
            let files = try host.attachmentFiles
            #expect(files.contains("t-app.service.d/") && files.contains("t-web.service.d/"))
            #expect(
                try host.run("journalctl --sync; systemctl status killswitchd-attach || true")
                    .contains("service 'shop': there is no unit 't-nosuch.service'"))
            // Once it is there, the next reload attaches it and detaches what is listed no longer.
            try host.services("t-nosuch")
            try reload(host, "t-app.service", "t-nosuch.service")
            try host.wait(
                until: "systemctl is-active killswitchd && ! systemctl is-failed killswitchd-attach"
            )
            #expect(try host.attachmentFiles.contains("t-nosuch.service.d/"))
            #expect(try !host.attachmentFiles.contains("t-web"))
        }

        @Test func whatIsAsConfiguredIsNotWrittenAgain() throws {
            let host = try attachedHost()
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
                      "kept": [],
                      "failed": []
                    }

                    """#)
            #expect(try host.run("stat -c %i \(file)") == inode)
            try host.control("detach shop t-web").expect(
                1,
                errors:
                    "the configuration lists 't-web.service' of 'shop' at /etc/killswitchd/killswitchd.toml:"
            )
            #expect(try host.attachmentFiles.contains("t-web.service.d/"))
        }

        @Test func aRefusedConfigurationAttachesNothing() throws {
            let host = try Host.having("t-web")
            try host.start()
            try host.configure(Self.listing("t-web.service") + "nonsense = 1\n")
            #expect(try host.system.attempt("systemctl reload killswitchd").status != 0)
            #expect(try host.attachmentFiles.isEmpty)
            #expect(try host.control("attach --from-configuration").status == 78)
        }
    }

    /// Units that a generator of systemd makes, as Quadlet makes them of containers. They exist in
    /// `/run/systemd/generator` alone, and are made anew at each reload and each boot.
    @Suite struct GeneratedUnitTests {
        private static let source = "/etc/systemd/system/t-generated"

        /// A host with a generator that makes `t-generated.service` of the file `source`.
        private func host() throws -> Host {
            let host = try Host()
            try host.unit(
                "../system-generators/t-generator",
                """
                #!/bin/sh
                test -e \(Self.source) || exit 0
                cp \(Self.source) "$1/t-generated.service"
                mkdir -p "$1/multi-user.target.wants"
                ln -s ../t-generated.service "$1/multi-user.target.wants"

                """)
            try host.run("chmod 755 /etc/systemd/system-generators/t-generator")
            try generate("one", on: host)
            return host
        }

        private func generate(_ word: String, on host: Host) throws {
            try host.system.write(
                "[Service]\nEnvironment=WORD=\(word)\nExecStart=/bin/sleep infinity\n",
                to: Self.source)
            try host.run("systemctl daemon-reload")
        }

        @Test func aGeneratedUnitIsAttachedLikeAnyOther() throws {
            let host = try host()
            try host.run("systemctl enable killswitchd")
            try host.startUnits("t-generated")
            #expect(
                try host.property("FragmentPath", of: "t-generated")
                    == "/run/systemd/generator/t-generated.service")
            try host.set(Host.ended, down: "t-generated")
            try generate("two", on: host)
            #expect(try host.system.attempt("systemctl start t-generated").status == 1)
            try host.system.reboot()
            try host.awaitUp("killswitch-ended@shop.target")
            #expect(try host.property("ActiveState", of: "t-generated") == "inactive")
            #expect(try host.system.attempt("systemctl start t-generated").status == 1)
            try host.set(Host.open, up: "t-generated")
            #expect(try host.property("Environment", of: "t-generated") == "WORD=two")
            try host.run("killswitchctl detach shop t-generated")
            #expect(try !host.run("find /etc/systemd/system").contains("t-generated.service"))
        }

        @Test func aUnitThatTheGeneratorMakesNoLongerIsNamed() throws {
            let host = try host()
            try host.startUnits("t-generated")
            try host.run("rm \(Self.source); systemctl daemon-reload")
            try host.wait(until: "killswitchctl units shop | grep -q 'its unit file is gone'")
            // The drop-in of the target stops it nevertheless.
            try host.set(Host.ended, down: "t-generated")
        }
    }
}
