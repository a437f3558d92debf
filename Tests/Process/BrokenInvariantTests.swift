import Support
import Testing

/// A daemon in which a condition is broken that no input can break.
@Suite(.timeLimit(.minutes(1))) struct BrokenInvariantTests {
    /// The kernel has no reason to refuse the wall clock timer; here the C library says that it does.
    /// An optimised build keeps the words, unlike those of Swift's `precondition`.
    @Test func theDaemonSaysWhichInvariantIsBrokenAndEnds() throws {
        let timer = try Preload(
            "timer",
            """
            #include <errno.h>
            #include <sys/timerfd.h>
            int timerfd_settime(int timer, int flags, const struct itimerspec *new,
                                struct itimerspec *old) {
                errno = EPERM;
                return -1;
            }
            """)
        let daemon = try Daemon()
        try daemon.start(["LD_PRELOAD": timer.path])
        let program = try #require(daemon.program)
        #expect(try program.wait() == 128 + 6)
        let sentence = "set the wall clock timer: operation not permitted"
        #expect(
            try program.errors.contains(
                "killswitchd: invariant broken: \(sentence) (EventLoop/Timers.swift:"))
    }
}
