import Support
import Testing

/// A daemon in which a condition is broken that no input can break.
@Suite(.timeLimit(.minutes(1))) struct InvariantTests {
    /// The kernel has no reason to refuse the wall clock timer; here the C library says that it does.
    /// An optimised build keeps the words, unlike those of Swift's `precondition`.
    @Test func theDaemonSaysWhichInvariantIsBrokenAndEnds() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            #include <errno.h>
            #include <sys/timerfd.h>
            int timerfd_settime(int timer, int flags, const struct itimerspec *new,
                                struct itimerspec *old) {
                errno = EPERM;
                return -1;
            }
            """, to: "timer.c")
        let compiled = try Program.run(
            "/usr/bin/gcc", ["-shared", "-fPIC", "-o", folder("timer.so"), folder("timer.c")])
        try #require(compiled.status == 0, "\(compiled.errors)")

        let daemon = try Daemon()
        try daemon.start(["LD_PRELOAD": folder("timer.so")])
        let program = try #require(daemon.program)
        #expect(try program.wait() == 128 + 6)
        let sentence = "set the wall clock timer: operation not permitted"
        #expect(
            try program.errors.contains(
                "killswitchd: invariant broken: \(sentence) (EventLoop/WallTimer.swift:"))
    }
}
