import Storage
import Support
import Testing

extension OnSystemd {
    /// Starts of attached units are refused from the moment the marker of the service says closed.
    @Suite struct MarkerTests {
        /// A host with `t-web`, and with `t-slow`, which takes seconds to stop. Both run.
        private func host(_ configuration: String = Host.shop) throws -> Host {
            let host = try Host(configuration)
            try host.services("t-web")
            try host.slowService(seconds: 4)
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

        private func runs(of unit: String, on host: Host) throws -> String {
            try host.property("InvocationID", of: unit)
        }

        /// systemd lets the start replace the stop of the open target, which `Requisite=` asks about: the
        /// unit ran for a second or more, until the daemon had closed the gate again.
        @Test func aStartByHandIsRefusedWhileAnotherUnitStillStops() throws {
            let host = try host()
            try host.run("killswitchctl attach shop t-web; systemctl start t-web t-slow")
            let before = try runs(of: "t-web", on: host)
            try host.set(Host.ended, down: "t-web")
            #expect(try host.property("ActiveState", of: "t-slow") == "deactivating")
            #expect(try host.system.attempt("systemctl start t-web").status != 0)
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            #expect(try runs(of: "t-web", on: host) == before)
            try host.awaitUp("killswitch-closed@shop.target", "killswitch-ended@shop.target")
            try host.awaitDown("killswitch-open@shop.target", "t-slow")
            #expect(try host.journal(of: .unitIntruding).isEmpty)
            // The marker changes before the gate: the opening starts them.
            try host.set(Host.open, up: "t-web", "t-slow")
        }

        @Test func eachOfTwoServicesRefusesAStartOfTheirUnit() throws {
            let host = try host(Host.service("shop") + Host.service("mail"))
            try host.set(Host.open, of: "mail", up: "killswitch-open@mail.target")
            try host.run("killswitchctl attach mail t-web; killswitchctl attach shop t-web")
            try host.run("systemctl start t-web t-slow")
            let before = try runs(of: "t-web", on: host)
            try host.set(Host.ended, down: "t-web")
            #expect(try host.system.attempt("systemctl start t-web").status != 0)
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
            #expect(try host.system.attempt("systemctl start t-job.service").status != 0)
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
                try host.run("mount -o remount,ro \(folder)")
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
            let host = try Host(Host.service("shop", #"drain = "6s""#))
            try host.services("t-web")
            try withOwnRuntime(on: host) { folder in
                try host.start(attaching: "t-web")
                try host.awaitUp("killswitch-open@shop.target")
                try host.run("systemctl start t-web")
                let before = try runs(of: "t-web", on: host)
                try host.set(Host.ended)
                try host.wait(until: "test -e \(folder)/shop/closed")
                try host.run("mount -o remount,ro \(folder)")
                try host.set(Host.open)
                try host.wait(forEntry: "read-only file system; retrying")
                try host.run("sleep 7")
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
