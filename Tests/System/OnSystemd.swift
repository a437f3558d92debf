import Glibc
import Support
import Testing

/// The tests of gates on a booted systemd. They share it, so they run one after the other.
@Suite(.serialized, .enabled(if: geteuid() == 0, "needs root"), .timeLimit(.minutes(5)))
enum OnSystemd {}

/// The tests of drills, on another booted system, beside the tests of gates.
@Suite(.serialized, .enabled(if: geteuid() == 0, "needs root"), .timeLimit(.minutes(5)))
enum Drilled {}

/// The tests of the package, on a booted system without the programs.
@Suite(.serialized, .enabled(if: geteuid() == 0, "needs root"), .timeLimit(.minutes(5)))
enum Packaged {}

extension BootedSystem {
    /// Removes everything of the test before: the configuration, attachments, units of tests (their names
    /// begin with `t-`; `chat@` is that of the guide to hooks), gates.
    func reset() throws {
        try run(
            """
            systemctl stop killswitchd
            systemctl stop 't-*' 'chat@*' 'killswitch-*' 2>/dev/null
            cd /etc/systemd/system && rm -rf t-* chat@* killswitch-* killswitchd.service.d *.wants/t-*
            rm -f multi-user.target.wants/killswitchd.service
            rm -f ../system-generators/t-*
            rm -rf /run/killswitchd/* /var/lib/killswitchd /etc/killswitchd /run/t-*
            systemctl daemon-reload
            systemctl reset-failed
            """)
    }
}
