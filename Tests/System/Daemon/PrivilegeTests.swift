import Support
import Testing

extension OnSystemd {
    @Suite struct PrivilegeTests {
        private static let call =
            "setpriv --reuid killswitchd --regid killswitchd --clear-groups busctl call "
            + "org.freedesktop.systemd1 /org/freedesktop/systemd1 "
            + "org.freedesktop.systemd1.Manager "

        /// What it has moved is in its files: of systemd it may ask nothing that changes something, with and without
        /// polkit on the host.
        @Test(arguments: [
            "StartUnit ss killswitch-open@shop.target replace",
            "StopUnit ss killswitch-closed@shop.target replace",
            "StartUnit ss killswitchd-attach.service replace",
            "StopUnit ss killswitchd-gates.service replace",
            "StopUnit ss t-web.service replace",
            "StartUnit ss t-web.service replace",
            "StartUnit ss multi-user.target isolate",
            "StopUnit ss dbus.service replace",
            "StopUnit ss killswitchd.service replace",
            "Reload", "Reexecute", "PowerOff",
            "KillUnit ssi t-web.service all 9",
            "SetUnitProperties 'sba(sv)' killswitch-open@shop.target true 0",
            "EnableUnitFiles asbb 1 t-web.service false false",
        ])
        func theDaemonsUserMayDoNothing(_ call: String) throws {
            let host = try Host.having("t-web")
            try host.run("systemctl daemon-reload; systemctl start t-web")
            let result = try host.system.attempt(Self.call + call)
            #expect(result.status != 0)
            #expect(
                ["ccess denied", "uthenticat", "ermission denied"]
                    .contains(where: result.errors.contains), "\(result.errors)")
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

        /// The one process with a right has nothing else.
        @Test func theMoverIsSandboxedAndItsSocketIsTheDaemonsAlone() throws {
            let host = try Host()
            try host.start()
            let unit = "killswitchd-gates.service"
            #expect(
                try host.run(
                    "cd /lib/systemd/system && systemd-analyze verify --man=no \(unit) 2>&1") == "")
            try host.run("systemd-analyze security --threshold=10 \(unit)")
            let process = try host.property("MainPID", of: unit)
            let capabilities = try host.run(
                "awk '/^Cap(Eff|Bnd|Prm|Amb)/ { print $2 }' /proc/\(process)/status | sort -u")
            #expect(capabilities == "0000000000000000\n")
            #expect(
                try host.run("stat -c '%U %a' /run/killswitchd-gates.sock") == "killswitchd 600\n")
            #expect(try host.run("stat -c '%U %a' /run/killswitchd-gates") == "root 755\n")
            #expect(
                try host.system.attempt(
                    "setpriv --reuid nobody --clear-groups --regid nogroup python3 -c \"import socket; "
                        + "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'1', '/run/killswitchd-gates.sock')\""
                ).status != 0)
        }

        /// Who has taken over the daemon can write any file into its directory, and send any request.
        @Test func theMoverDoesNothingForAForeignDaemonButMoveGates() throws {
            let host = try Host.running("t-web")
            try host.services("t-other")
            try host.run("systemctl start t-other; systemctl stop killswitchd")
            try host.run(
                """
                cd /run/killswitchd; mkdir evil
                echo 'stop t-other.service' > evil/targets
                mkdir fifo link other; mkfifo fifo/targets; ln -s /etc/shadow link/targets
                printf 'start open\nstart closed\n' > other/targets
                chown -R killswitchd: evil fifo link other
                """)
            let ask =
                "setpriv --reuid killswitchd --clear-groups --regid killswitchd python3 -c \"import socket; "
                + "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.setblocking(False)\nfor n in range(20000):\n"
                + "  try: s.sendto(b'x' * 2000, '/run/killswitchd-gates.sock')\n  except BlockingIOError: pass\""
            try host.run(ask)
            try host.set(Host.open)
            // A service of its own is moved as before.
            try host.run("systemctl start killswitchd")
            try host.set(Host.ended, up: "killswitch-closed@shop.target", down: "t-web")
            #expect(try host.property("ActiveState", of: "t-other") == "active")
            #expect(try host.property("NRestarts", of: "killswitchd-gates.service") == "0")
            let words = try host.run(
                "journalctl --sync; journalctl -b -u killswitchd-gates -o cat")
            #expect(words.contains("the targets of service 'evil' stay as they are"), "\(words)")
            #expect(!words.contains("root:") && !words.contains("t-other"), "\(words)")
            try host.run(
                "rm -r /run/killswitchd/evil /run/killswitchd/fifo /run/killswitchd/link /run/killswitchd/other"
            )
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
