import EventLoop
import Glibc

/// How a command ended that we ran for somebody: they are to see the same of us.
struct CommandEnd: Error {
    let end: Child.End

    /// The exit status; or, where a signal ended the command, the end of this process by the same one,
    /// so that a shell sees that its script was interrupted. The status of that is 128 and the number.
    func pass() -> Int32 {
        switch end {
        case .exited(let status):
            return status
        case .killed(let number):
            // One core file is enough.
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
            signal(number, SIG_DFL)
            var signals = sigset_t()
            unsafe sigemptyset(&signals)
            unsafe sigaddset(&signals, number)
            unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            kill(getpid(), number)
            return 128 + number
        }
    }
}
