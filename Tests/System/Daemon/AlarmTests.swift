import Support
import Testing

extension Monitored {
    /// killswitchd-alarm.service: it fails in words if units are attached and no daemon runs.
    @Suite(.serialized)
    struct AlarmTests {
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
            #expect(words.contains("does not run (last sign of life 10m ago): connect to '/run/"))
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
            try host.run("systemctl stop killswitchd; rm /run/killswitchd/alive")
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
