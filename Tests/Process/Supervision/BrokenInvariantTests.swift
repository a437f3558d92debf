import Support
import Testing

/// What the daemon does when an invariant is broken.
@Suite(.timeLimit(.minutes(5))) struct BrokenInvariantTests {
    /// A preloaded library refuses the wall clock timer, which the kernel never does. An optimised build
    /// drops the message of Swift's `precondition`; this one has to stay.
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
