import Storage
import Support
import Testing

extension OnSystemd {
    /// Starts of attached units are refused from the moment the marker of the service says closed.
    @Suite struct MarkerTests {
        /// A host with `t-web`, and with `t-slow`, whose stop takes until it is let go. Both run.
        private func host(_ configuration: String = Host.shop) throws -> Host {
            let host = try Host(configuration)
            try host.services("t-web")
            try host.heldService()
            try host.start(attaching: "t-slow")
            return host
        }

        /// Its runtime directory is a file system of its own, which can become read-only.
        private func withOwnRuntime(on host: Host, _ body: (String) throws -> Void) throws {
            let folder = "/run/killswitchd"
            try host.run("mkdir -p \(folder); mount -t tmpfs tmpfs \(folder)")
            try host.undoing("systemctl stop killswitchd; umount --lazy \(folder)") {
                try body(folder)
            }
        }

        /// It is busy while the daemon writes a file.
        private func remountReadOnly(_ folder: String, on host: Host) throws {
            try host.wait(until: "mount -o remount,ro \(folder)")
        }

        private func runs(of unit: String, on host: Host) throws -> String {
            try host.property("InvocationID", of: unit)
        }

        /// A start asks for no other unit: it takes back no stop, and both targets are never active at once.
        @Test func aStartByHandIsRefusedWhileAnotherUnitStillStops() throws {
            let host = try host()
            try host.run("killswitchctl attach shop t-web; systemctl start t-web t-slow")
            let before = try runs(of: "t-web", on: host)
            try host.set(Host.ended, down: "t-web")
            #expect(try host.property("ActiveState", of: "t-slow") == "deactivating")
            #expect(try host.lettingGo("systemctl start t-web").status != 0)
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            #expect(try runs(of: "t-web", on: host) == before)
            try host.awaitUp("killswitch-closed@shop.target", "killswitch-ended@shop.target")
            try host.awaitDown("killswitch-open@shop.target", "t-slow")
            #expect(try host.journal(of: .unitIntruding).isEmpty)
            // The marker changes before the gate: the opening starts them.
            try host.set(Host.open, up: "t-web", "t-slow")
        }

        /// Nothing has to be put right afterwards: with a dead daemon nobody would.
        @Test func aStartByHandBesideADeadDaemonChangesNoTarget() throws {
            let host = try host()
            try host.run("killswitchctl attach shop t-web; systemctl start t-web t-slow")
            try host.set(Host.ended, down: "t-web")
            try host.run("systemctl kill --signal=STOP killswitchd")
            try host.undoing("systemctl kill --signal=CONT killswitchd") {
                for _ in 1...10 {
                    #expect(
                        try host.system.attempt("timeout 0.1 systemctl start t-web").status != 0)
                }
                try host.letGo()
                try host.awaitDown("killswitch-open@shop.target", "t-slow")
                try host.awaitUp("killswitch-closed@shop.target", "killswitch-ended@shop.target")
                #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            }
        }

        /// A configuration management that starts it in each run would send a mail in each.
        @Test func aRefusedStartIsNoFailureOfTheUnit() throws {
            let host = try Host(flags: Host.ended)
            try host.unit("t-mail.service", "[Service]\nExecStart=/bin/touch /run/t-mail")
            try host.unit(
                "t-web.service",
                "[Unit]\nOnFailure=t-mail.service\n[Service]\nExecStart=/bin/sleep infinity")
            try host.start(attaching: "t-web")
            try host.awaitUp("killswitch-closed@shop.target")
            let refused = try host.system.attempt("systemctl start t-web")
            #expect(refused.status == 1)
            #expect(
                try host.system.attempt("systemctl status t-web").output
                    .contains("AssertPathExists=/run/killswitchd/shop/open was not met"))
            #expect(try host.system.attempt("test -e /run/t-mail").status != 0)
            try host.set(Host.open, up: "t-web")
        }

        /// As nginx's: its own script ends where the start of its unit is refused.
        @Test func aPackageIsUpgradedWhileTheGateOfItsUnitIsClosed() throws {
            let host = try Host(flags: Host.ended)
            let dpkg = "PATH=/usr/sbin:/usr/bin:/sbin:/bin dpkg"
            try host.run(
                """
                export PATH=/usr/sbin:/usr/bin:/sbin:/bin; rm -f /usr/sbin/policy-rc.d
                mkdir -p /run/t-deb/DEBIAN /run/t-deb/lib/systemd/system; cd /run/t-deb
                printf 'Package: t-pkg\\nVersion: 1\\nArchitecture: all\\nMaintainer: m <m@example.org>\\nDescription: d\\n' > DEBIAN/control
                printf '#!/bin/sh\\nsystemctl daemon-reload; invoke-rc.d t-pkg start || exit $?\\n' > DEBIAN/postinst
                chmod 755 DEBIAN/postinst
                printf '[Service]\\nExecStart=/bin/sleep infinity\\n' > lib/systemd/system/t-pkg.service
                dpkg-deb --build . /run/t-pkg.deb
                cp lib/systemd/system/t-pkg.service /etc/systemd/system; systemctl daemon-reload
                """)
            try host.undoing(
                "\(dpkg) --purge t-pkg; rm -f /usr/sbin/policy-rc.d /etc/systemd/system/t-pkg.service"
            ) {
                try host.start(attaching: "t-pkg")
                try host.awaitUp("killswitch-closed@shop.target")
                let refused = try host.system.attempt("\(dpkg) --install /run/t-pkg.deb")
                #expect(refused.status != 0 && refused.errors.contains("t-pkg"), "\(refused)")
                #expect(
                    try host.run("dpkg-query -W -f '${db:Status-Status}' t-pkg")
                        == "half-configured")
                try host.run(
                    "install -m 755 /usr/share/killswitchd/policy-rc.d /usr/sbin/policy-rc.d")
                try host.run("\(dpkg) --configure t-pkg")
                #expect(try host.run("dpkg-query -W -f '${db:Status-Status}' t-pkg") == "installed")
                #expect(try host.property("ActiveState", of: "t-pkg") == "inactive")
                try host.set(Host.open, up: "t-pkg")
                try host.run("systemctl stop t-pkg; /usr/sbin/invoke-rc.d t-pkg start")
                try host.awaitUp("t-pkg")
            }
        }

        /// `systemctl disable` and `reenable` remove each link to the unit.
        @Test func aUnitThatIsReenabledOrDisabledComesBackWithItsGate() throws {
            let host = try Host()
            try host.unit(
                "t-web.service",
                "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target")
            try host.start(attaching: "t-web")
            for command in ["enable", "reenable", "disable"] {
                try host.run("systemctl \(command) t-web; killswitchctl wait shop --for decided")
                try host.set(Host.ended, up: "killswitch-closed@shop.target", down: "t-web")
                try host.set(Host.open, up: "t-web")
            }
        }

        /// Sockets and path units start before all services, and the first decision comes after those.
        @Test func attachedSocketsAndPathUnitsMakeNoCycle() throws {
            let host = try Host()
            try host.services("t-one", "t-two")
            try host.unit(
                "t-one.socket",
                "[Socket]\nListenStream=/run/t-one\n[Install]\nWantedBy=sockets.target")
            try host.unit(
                "t-two.path", "[Path]\nPathExists=/run/t-two\n[Install]\nWantedBy=paths.target")
            try host.run(
                "systemctl daemon-reload; systemctl enable --now killswitchd t-one.socket t-two.path"
            )
            try host.start(attaching: "t-one.socket t-two.path")
            for _ in 1...5 {
                let verified = try host.run("systemd-analyze verify default.target 2>&1 || true")
                #expect(!verified.contains("cycle"), "\(verified)")
            }
            try host.system.reboot()
            #expect(try !host.run("journalctl -b _PID=1 -o cat").contains("ordering cycle"))
            for unit in ["sockets.target", "paths.target", "t-one.socket", "t-two.path"] {
                #expect(try host.property("ActiveState", of: unit) == "active", "\(unit)")
            }
            try host.set(Host.ended, down: "t-one.socket", "t-two.path")
            try host.system.reboot()
            try host.awaitUp("killswitch-closed@shop.target", "sockets.target", "paths.target")
            #expect(try host.property("ActiveState", of: "t-one.socket") == "inactive")
            try host.unit(
                "t-early.service",
                "[Unit]\nDefaultDependencies=no\nBefore=sysinit.target\n[Service]\nExecStart=/bin/true"
            )
            try host.run("systemctl daemon-reload")
            try host.control("attach shop t-early").expect(
                1, errors: "'sysinit.target' waits for it")
        }

        @Test func eachOfTwoServicesRefusesAStartOfTheirUnit() throws {
            let host = try host(Host.service("shop") + Host.service("mail"))
            try host.set(Host.open, of: "mail", up: "killswitch-open@mail.target")
            try host.run("killswitchctl attach mail t-web; killswitchctl attach shop t-web")
            try host.run("systemctl start t-web t-slow")
            let before = try runs(of: "t-web", on: host)
            try host.set(Host.ended, down: "t-web")
            #expect(try host.lettingGo("systemctl start t-web").status != 0)
            try host.awaitUp("killswitch-closed@shop.target")
            try host.set(Host.ended, of: "mail", up: "killswitch-closed@mail.target")
            try host.set(Host.open, up: "killswitch-open@shop.target")
            #expect(try host.system.attempt("systemctl start t-web").status != 0)
            #expect(try runs(of: "t-web", on: host) == before)
            try host.set(Host.open, of: "mail", up: "t-web")
        }

        /// A timer may elapse while the service that it triggers, or another unit, still stops.
        @Test func aTriggeredStartIsRefusedToo() throws {
            let host = try host()
            try host.unit(
                "t-job.service", "[Service]\nType=oneshot\nExecStart=/bin/touch /run/t-job")
            try host.unit("t-job.timer", "[Timer]\nOnCalendar=*:*:0/2\nAccuracySec=1ms")
            try host.run("systemctl daemon-reload; systemctl start t-job.timer")
            try host.run("killswitchctl attach shop t-job; systemctl start t-slow")
            try host.wait(until: "test -e /run/t-job")
            try host.set(Host.ended, down: "t-job.timer", "t-job.service")
            #expect(try host.property("ActiveState", of: "t-slow") == "deactivating")
            try host.run("rm /run/t-job")
            #expect(try host.lettingGo("systemctl start t-job.service").status != 0)
            #expect(try host.system.attempt("systemctl start t-job.timer").status != 0)
            try host.awaitUp("killswitch-closed@shop.target")
            #expect(try host.system.attempt("test -e /run/t-job").status != 0)
            try host.set(Host.open, up: "t-job.timer")
            try host.wait(until: "test -e /run/t-job")
        }

        /// The gate opened beside the marker `closed`, which could not be moved: each unit was refused, and stayed down
        /// when the file system was repaired.
        @Test func unitsStartAfterAnOpeningOnAReadOnlyFileSystem() throws {
            let host = try Host(flags: Host.ended)
            try host.services("t-web")
            try withOwnRuntime(on: host) { folder in
                try host.start(attaching: "t-web")
                try host.awaitUp("killswitch-closed@shop.target")
                try remountReadOnly(folder, on: host)
                try host.set(Host.open)
                try host.wait(forEntry: "shop: running")
                try host.wait(forEntry: "read-only file system; retrying")
                #expect(
                    try host.property("ActiveState", of: "killswitch-open@shop.target")
                        == "inactive")
                try host.run("mount -o remount,rw \(folder)")
                try host.awaitUp("killswitch-open@shop.target", "t-web")
                try host.run("killswitchctl wait shop --for up --timeout 1m")
            }
            #expect(try host.journal(of: .unitFailed).isEmpty)
        }

        /// The drain of the closing ended behind the marker that could not be moved, and stopped units of an open
        /// service.
        @Test func anOpeningOnAReadOnlyFileSystemEndsADrain() throws {
            let host = try Host(Host.service("shop", #"drain = "20s""#))
            try host.services("t-web")
            try withOwnRuntime(on: host) { folder in
                try host.start(attaching: "t-web")
                try host.awaitUp("killswitch-open@shop.target")
                try host.run("systemctl start t-web")
                let before = try runs(of: "t-web", on: host)
                try host.set(Host.ended)
                try host.wait(until: "test -e \(folder)/shop/closed")
                try remountReadOnly(folder, on: host)
                try host.set(Host.open)
                try host.wait(forEntry: "read-only file system; retrying")
                try host.run("sleep 21")
                #expect(try host.property("ActiveState", of: "t-web") == "active")
                try host.run("mount -o remount,rw \(folder)")
                try host.run("killswitchctl wait shop --for up --timeout 1m")
                #expect(try runs(of: "t-web", on: host) == before)
            }
        }

        /// systemd leaves a unit inactive if an assertion refuses its start. Then `units`, `status` and the
        /// journal say why it does not run behind an open gate.
        @Test func aUnitWhoseOwnAssertionFailsAtTheOpeningIsNamed() throws {
            let host = try Host(flags: Host.ended)
            try host.unit(
                "t-web.service",
                "[Unit]\nAssertPathExists=/run/t-allowed\n[Service]\nExecStart=/bin/sleep infinity")
            try host.start(attaching: "t-web")
            try host.awaitUp("killswitch-closed@shop.target")
            try host.set(Host.open, up: "killswitch-open@shop.target")
            try host.wait(until: "killswitchctl units shop | grep -q 'has refused its start'")
            #expect(
                try host.sentences(of: .unitFailed) == [
                    "unit 't-web.service' of 'shop': an assertion in its unit file (Assert…=) has "
                        + "refused its start"
                ])
            try host.run("touch /run/t-allowed; systemctl start t-web")
            try host.wait(until: "! killswitchctl units shop | grep -q refused")
        }
    }
}
