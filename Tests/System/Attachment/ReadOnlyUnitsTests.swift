import Support
import Testing

extension OnSystemd {
    /// A host on which `/etc/systemd/system` cannot be written, as in a read-only image: drop-ins are below /run.
    @Suite struct ReadOnlyUnitsTests {
        /// Waits until systemd has read the drop-ins of the unit and of its target.
        private func awaitDropIns(_ host: Host) throws {
            try host.wait(
                until: "systemctl show -P PropagatesStopTo killswitch-open@shop.target | "
                    + "grep -q t-web.service")
        }

        private func dropIns(_ host: Host, in folder: String) throws -> Int? {
            let find = "find \(folder)/systemd/system -name '50-killswitch-*.conf'"
            return Int(try host.run("\(find) | wc -l").dropLast())
        }

        @Test func unitsAreAttachedBelowRunBeforeTheBootStartsThem() throws {
            let host = try Host(Host.service("shop", "units = [\"t-web.service\"]"))
            try host.services("t-web")
            try host.run("systemctl daemon-reload; systemctl enable killswitchd t-web")
            let undo = "rm -f /etc/fstab; umount /etc/systemd/system 2> /dev/null || true"
            try host.undoing(undo) {
                try host.run("systemctl start killswitchd t-web")
                try awaitDropIns(host)
                // The image has none of them: they are made at each boot.
                try host.run(
                    "rm -r /etc/systemd/system/*.service.d /etc/systemd/system/killswitch-*")
                try host.run(
                    "echo '/etc/systemd/system /etc/systemd/system none bind,ro 0 0' > /etc/fstab")
                try host.set(Host.ended)
                try host.system.reboot()
                try host.awaitUp("killswitch-closed@shop.target")
                #expect(try dropIns(host, in: "/etc") == 0 && dropIns(host, in: "/run") == 2)
                #expect(try host.run("journalctl -b -u t-web -o cat").contains("Started") == false)
                try host.set(Host.open, up: "t-web")
                try host.set(Host.ended, down: "t-web")
                let run = try host.control("attach --from-configuration --json").expect(0)
                #expect(run.output.contains(#""attached": []"#), "\(run)")
                let plan = try host.control("attach shop t-web --dry-run").expect(0)
                #expect(
                    plan.output.contains("\n/run/systemd/system/t-web.service.d/50-"), "\(plan)")
                // Where it can be written again they go back.
                try host.run(
                    "umount /etc/systemd/system; killswitchctl attach --from-configuration")
                #expect(try dropIns(host, in: "/etc") == 2 && dropIns(host, in: "/run") == 0)
                try host.set(Host.open, up: "t-web")
            }
        }

        /// An image may have been made with the drop-ins in it.
        @Test func dropInsThatAnImageHasStayWhereTheyAre() throws {
            let host = try Host(Host.service("shop", "units = [\"t-web.service\"]"))
            try host.services("t-web", "t-app")
            try host.start()
            try awaitDropIns(host)
            try host.undoing("umount /etc") {
                try host.run("mount --bind /etc /etc; mount -o remount,bind,ro /etc")
                try host.control("attach --from-configuration").expect(0)
                #expect(try dropIns(host, in: "/etc") == 2 && dropIns(host, in: "/run") == 0)
                try host.control("attach shop t-app").expect(
                    1, errors: "read-only file system; list the units in 'units' of the service")
            }
        }
    }
}
