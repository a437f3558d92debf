import Support
import Testing

extension OnSystemd {
    @Suite struct PrivilegeTests {
        private static let call =
            "setpriv --reuid killswitchd --regid killswitchd --clear-groups busctl call "
            + "org.freedesktop.systemd1 /org/freedesktop/systemd1 "
            + "org.freedesktop.systemd1.Manager "

        @Test(arguments: [
            "killswitch-open@shop.target", "killswitch-update-required@a-b_c.target",
            "killswitch-variant@shop:v2.target",
        ])
        func theDaemonMayStartAndStopItsTargets(_ unit: String) throws {
            let host = try Host()
            try host.run("systemctl daemon-reload")
            try host.run("\(Self.call) StartUnit ss \(unit) replace")
            try host.awaitUp("'\(unit)'")
            try host.run("\(Self.call) StopUnit ss \(unit) replace")
            try host.awaitDown("'\(unit)'")
        }

        @Test(arguments: [
            "StopUnit ss t-web.service replace",
            "StartUnit ss t-web.service replace",
            "RestartUnit ss killswitch-open@shop.target replace",
            "ReloadUnit ss killswitch-open@shop.target replace",
            "StartUnit ss multi-user.target isolate",
            "StopUnit ss dbus.service replace",
            "StopUnit ss killswitchd.service replace",
            "StopUnit ss killswitchd-attach.service replace",
            "RestartUnit ss killswitchd-attach.service replace",
            "StartUnit ss killswitch-open@Shop.target replace",
            "StartUnit ss killswitch-other@shop.target replace",
            "StartUnit ss killswitch-open@shop.service replace",
            "StartUnit ss 'killswitch-variant@shop.target' replace",
            "StartUnit ss 'killswitch-open@shop.target.service' replace",
            "Reload", "Reexecute", "PowerOff",
            "KillUnit ssi t-web.service all 9",
            "SetUnitProperties 'sba(sv)' killswitch-open@shop.target true 0",
            "EnableUnitFiles asbb 1 t-web.service false false",
        ])
        func theDaemonMayDoNothingElse(_ call: String) throws {
            let host = try Host.having("t-web")
            try host.run("systemctl daemon-reload; systemctl start t-web")
            let result = try host.system.attempt(Self.call + call)
            #expect(result.status != 0)
            #expect(
                result.errors.contains("ccess denied") || result.errors.contains("uthenticat"),
                "\(result.errors)")
            #expect(try host.property("ActiveState", of: "t-web") == "active")
        }

        @Test func theUnitIsSandboxedAndPassesSystemdsChecks() throws {
            let host = try Host()
            try host.start()
            #expect(
                try host.run(
                    "cd /lib/systemd/system && systemd-analyze verify --man=no killswitchd.service "
                        + "$(ls killswitch-*.target | sed 's/@/@shop/') 2>&1") == "")
            try host.run("systemd-analyze security --threshold=12 killswitchd.service")
            let process = try host.property("MainPID")
            #expect(try host.run("stat -c %U /proc/\(process)") == "killswitchd\n")
            // What is in its memory is in no dump, and for root alone.
            #expect(try host.run("stat -c %U /proc/\(process)/environ") == "root\n")
            #expect(try host.property("LimitCORE") == "0")
            let capabilities = try host.run(
                "awk '/^Cap(Eff|Bnd|Prm|Amb)/ { print $2 }' /proc/\(process)/status | sort -u")
            #expect(capabilities == "0000000000000000\n")
        }

        /// By root: with the rights of the daemon's user, and by what its unit hides.
        @Test(arguments: [
            ("/etc/killswitchd/own.json", "permission denied (as the user killswitchd)"),
            ("/home/flags.json", "the unit hides /home from the daemon (ProtectHome=)"),
            ("/var/tmp/flags.json", "the unit hides /var/tmp from the daemon (PrivateTmp=)"),
        ])
        func theCheckWarnsOfAFileThatTheDaemonCannotRead(_ path: String, _ words: String) throws {
            let host = try Host(
                Host.service("shop", "first_timeout = \"1s\"")
                    .replacing("/etc/killswitchd/shop.json", with: path))
            try host.run("echo '\(Host.open)' > \(path); chmod 600 \(path)")
            try host.undoing("rm \(path)") {
                try host.system.attempt("/usr/sbin/killswitchd --check").expect(
                    0, errors: "'\(path)': ", words)
                // The daemon cannot read it indeed.
                try host.run("systemctl start killswitchd")
                let status = try host.run("killswitchctl status 2>&1")
                #expect(status.contains("source 'shop': open '\(path)': "), "\(status)")
            }
        }
    }

    /// killswitchd-alarm.service: it fails in words if units are attached and no daemon runs.
    @Suite struct AlarmTests {
        private func host() throws -> Host {
            let host = try Host.attached("t-web")
            return host
        }

        /// What the alarm says, if it fails.
        private func alarm(_ host: Host) throws -> String? {
            guard try host.system.attempt("systemctl start killswitchd-alarm").status != 0 else {
                return nil
            }
            return try host.run(
                "journalctl --sync; journalctl -u killswitchd-alarm -o cat | grep '^killswitchctl'"
                    + " | tail -n 1")
        }

        @Test func aDeadDaemonIsAnAlarmThatNamesTheUnitsUntilItIsBack() throws {
            let host = try host()
            #expect(try alarm(host) == nil)
            try host.run("systemctl stop killswitchd")
            // As during an upgrade: the last sign of life is young.
            #expect(try alarm(host) == nil)
            try host.run("touch --date '10 minutes ago' /run/killswitchd/alive")
            let words = try #require(try alarm(host))
            #expect(words.contains("does not run (last sign of life 10m ago)"))
            #expect(words.contains("; no gate moves. These units stay as they are, stopped or"))
            #expect(words.contains(": t-web.service ('shop'). Type 'systemctl start killswitchd'"))
            try host.run("systemctl is-failed killswitchd-alarm")
            try host.run("systemctl start killswitchd")
            #expect(try alarm(host) == nil)
            #expect(try host.system.attempt("systemctl is-failed killswitchd-alarm").status != 0)
        }

        @Test func withoutAttachedUnitsADeadDaemonIsNone() throws {
            let host = try Host()
            try host.start()
            try host.run("systemctl stop killswitchd; rm -f /run/killswitchd/alive")
            #expect(try alarm(host) == nil)
        }

        /// Everything attached stayed down, and nothing had failed.
        @Test func aDaemonThatIsMaskedAtBootIsAnAlarmAtTheEndOfTheBoot() throws {
            let host = try host()
            try host.run(
                "systemctl mask --now killswitchd; systemctl enable killswitchd-alarm.service t-web"
            )
            try host.undoing(
                "systemctl unmask killswitchd; systemctl disable killswitchd-alarm.service"
            ) {
                try host.system.reboot()
                try host.run("systemctl is-failed killswitchd-alarm")
                #expect(try host.property("ActiveState", of: "t-web") == "inactive")
                let status = try host.system.attempt("systemctl status killswitchd-alarm").output
                #expect(status.contains("t-web.service ('shop')"), "\(status)")
            }
        }
    }
}
