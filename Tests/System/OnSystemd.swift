import Glibc
import Support
import Testing

/// The tests on a booted systemd with the installed programs. Several are booted, and each test takes a free one; the
/// limit of time counts while it waits for one, too.
@Suite(.installed, .enabled(if: geteuid() == 0, "needs root"), .timeLimit(.minutes(40)))
enum OnSystemd {}

/// The tests of the package and of the guides that install it, on booted systems without the programs.
@Suite(.bare, .enabled(if: geteuid() == 0, "needs root"), .timeLimit(.minutes(40)))
enum Packaged {}

extension BootedSystem {
    /// The command that logs `t-operator` in on a terminal of its own, as getty(8) does, and prints what is shown
    /// there. login(1) of Debian 13 hangs that terminal up first.
    static let login = """
        python3 - <<'END'
        import os, pty, time
        terminal, end = pty.openpty()
        login = os.fork()
        if login == 0:
            os.login_tty(end)
            os.execvp("login", ["login", "-f", "t-operator"])
        os.set_blocking(terminal, False)
        ended = 0
        while not ended:
            ended, _ = os.waitpid(login, os.WNOHANG)
            try:
                while shown := os.read(terminal, 4096): os.write(1, shown)
            except OSError: time.sleep(0.05)
        END
        """

    /// Removes everything of the test before: the configuration, attachments, units of tests (their names
    /// begin with `t-`; `chat@` is that of the guide to hooks), gates. The configuration goes first: a run that
    /// attaches its units, which may have been asked for a moment ago, would attach them to what comes next.
    func reset() throws {
        try run(
            """
            systemctl stop killswitchd
            systemctl stop killswitchd-motd.socket killswitchd-motd.service
            rm -f /run/motd.d/killswitchd
            find /etc/killswitchd -mindepth 1 -maxdepth 1 -not -name web -exec rm -rf {} +
            rm -rf /run/killswitchd/*
            systemctl stop killswitchd-attach
            touch /run/t-go
            systemctl kill --signal KILL 't-hung*' 2>/dev/null
            systemctl stop 't-*' 'chat@*' 'killswitch-*' 2>/dev/null
            cd /etc/systemd/system && rm -rf t-* chat@* killswitch-* killswitchd.service.d *.wants/t-*
            rm -f multi-user.target.wants/killswitchd.service
            rm -f ../system-generators/t-*
            rm -rf /run/killswitchd-attach /var/lib/killswitchd /run/t-*
            systemctl daemon-reload
            systemctl reset-failed
            """)
    }
}
