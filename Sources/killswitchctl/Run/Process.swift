import Faults
import Glibc

/// A command in a process of its own, with our terminal, our files and our process group.
struct Process {
    let identifier: Int32

    /// Starts a command, which is looked for in PATH. `mask` are the signals that were blocked when this
    /// program began: it gets no others. A command that cannot be run ends us as a shell would, with
    /// 127 where there is none and 126 otherwise.
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

    func send(_ signal: Int32) {
        kill(identifier, signal)
    }

    /// The signals that are blocked in this thread now.
    static var blockedSignals: sigset_t {
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
        return mask
    }
}
