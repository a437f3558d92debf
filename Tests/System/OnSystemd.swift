import Glibc
import Support
import Testing

/// The tests of gates on a booted systemd. They share it, so they run one after the other.
@Suite(
    .serialized, .on(.gates), .enabled(if: geteuid() == 0, "needs root"), .timeLimit(.minutes(5)))
enum OnSystemd {}

/// The tests of attached units and of what tells of them, on another booted system, beside the tests of gates.
@Suite(
    .serialized, .on(.attachments), .enabled(if: geteuid() == 0, "needs root"),
    .timeLimit(.minutes(5)))
enum Attached {}

/// The tests of drills that are refused or interrupted, on another booted system.
@Suite(
    .serialized, .on(.drills), .enabled(if: geteuid() == 0, "needs root"), .timeLimit(.minutes(5)))
enum Drilled {}

/// The tests of outages, crowds and drills that go to their end, on another booted system.
@Suite(
    .serialized, .on(.outages), .enabled(if: geteuid() == 0, "needs root"), .timeLimit(.minutes(5)))
enum Disrupted {}

/// The tests of privileges and of the markers, on another booted system.
@Suite(
    .serialized, .on(.privileges), .enabled(if: geteuid() == 0, "needs root"),
    .timeLimit(.minutes(5)))
enum Confined {}

/// The guides, on a booted system without the programs.
@Suite(
    .serialized, .on(.guides), .enabled(if: geteuid() == 0, "needs root"), .timeLimit(.minutes(5)))
enum Guided {}

/// The tests of the package, on another booted system without the programs.
@Suite(
    .serialized, .on(.packages), .enabled(if: geteuid() == 0, "needs root"), .timeLimit(.minutes(5))
)
enum Packaged {}

/// The table of troubles, reboots and configured units, on another booted system.
@Suite(
    .serialized, .on(.troubles), .enabled(if: geteuid() == 0, "needs root"), .timeLimit(.minutes(5))
)
enum Troubled {}

/// The tests of what monitoring and people see, on another booted system.
@Suite(
    .serialized, .on(.metrics), .enabled(if: geteuid() == 0, "needs root"), .timeLimit(.minutes(5)))
enum Monitored {}

extension BootedSystem {
    /// Removes everything of the test before: the configuration, attachments, units of tests (their names
    /// begin with `t-`; `chat@` is that of the guide to hooks), gates.
    func reset() throws {
        try run(
            """
            systemctl stop killswitchd
            systemctl kill --signal KILL 't-hung*' 2>/dev/null
            systemctl stop 't-*' 'chat@*' 'killswitch-*' 2>/dev/null
            cd /etc/systemd/system && rm -rf t-* chat@* killswitch-* killswitchd.service.d *.wants/t-*
            rm -f multi-user.target.wants/killswitchd.service
            rm -f ../system-generators/t-*
            rm -rf /run/killswitchd/* /var/lib/killswitchd /run/t-*
            find /etc/killswitchd -mindepth 1 -maxdepth 1 -not -name web -exec rm -rf {} +
            systemctl daemon-reload
            systemctl reset-failed
            """)
    }
}
