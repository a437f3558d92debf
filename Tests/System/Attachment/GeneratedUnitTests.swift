import Support
import Testing

extension Attached {
    /// Units that a generator of systemd makes, as Quadlet makes them of containers. They exist in
    /// `/run/systemd/generator` alone, and are made anew at each reload and each boot.
    @Suite(.serialized)
    struct GeneratedUnitTests {
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
