import Glibc
import Support
import Testing

/// Every test of the gate on a booted systemd, one after the other: they share it.
@Suite(.serialized, .enabled(if: geteuid() == 0, "needs root"), .timeLimit(.minutes(4)))
enum OnSystemd {}

/// Drills on another one, beside the tests of the gate.
@Suite(.serialized, .enabled(if: geteuid() == 0, "needs root"), .timeLimit(.minutes(4)))
enum Drilled {}

/// The package on one that has nothing else of ours.
@Suite(.serialized, .enabled(if: geteuid() == 0, "needs root"), .timeLimit(.minutes(4)))
enum Packaged {}

extension BootedSystem {
    /// Leaves nothing of the test before: no configuration, no attached unit, no unit of a test (their
    /// names begin with `t-`), no gate.
    func reset() throws {
        try run(
            """
            systemctl stop killswitchd
            systemctl stop 't-*' 'killswitch-*' 2>/dev/null
            cd /etc/systemd/system && rm -rf t-* killswitch-* killswitchd.service.d *.wants/t-*
            rm -f multi-user.target.wants/killswitchd.service
            rm -rf /run/killswitchd/* /var/lib/killswitchd /etc/killswitchd /run/t-*
            systemctl daemon-reload
            systemctl reset-failed
            """)
    }
}
