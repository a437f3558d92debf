import EventLoop
import Glibc
import POSIX

/// A command in a child process, with this process's terminal, files and process group.
struct ChildProcess {
    let identifier: Int32

    /// Starts a command, which is searched in PATH, with the signals of `mask` blocked. Throws as a shell
    /// exits: with status 127 if there is no such command, with 126 if it cannot be run.
    init(_ command: [String], blocking mask: sigset_t) throws(CommandFailure) {
        var attributes = posix_spawnattr_t()
        var mask = mask
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let words = unsafe command.map { unsafe strdup($0) }
        defer { unsafe words.forEach { unsafe free($0) } }
        var identifier: pid_t = 0
        let code = unsafe posix_spawnp(
            &identifier, command[0], nil, &attributes, words + [nil], environ)
        guard code == 0 else {
            throw CommandFailure(
                code == ENOENT ? .noSuchCommand : .commandNotRun,
                "run '\(command[0])': \(SystemError.text(of: code))")
        }
        self.identifier = identifier
    }

    /// Sends a signal to the process.
    func send(_ signal: Int32) { kill(identifier, signal) }

    /// The signals that this thread blocks now.
    static var blockedSignals: sigset_t {
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
        return mask
    }
}

/// How the command of `run` ended. Thrown to the top, which ends this process in the same way.
struct CommandEnd: Error {
    let end: Child.End

    /// Returns the exit status. If a signal ended the command, ends this process by the same signal, so
    /// that a shell sees that its script was interrupted; returns 128 plus the number if that fails.
    func exitAlike() -> Int32 {
        switch end {
        case .exited(let status): return status
        case .killed(let number):
            // The command has written a core file already.
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
