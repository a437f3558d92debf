/// What a command tells the script that called it.
enum ExitStatus: Int32 {
    case success = 0
    /// "No", or it failed.
    case no = 1
    case usage = 2
    /// The service is undecided, or its state file is past `valid_until`.
    case undecided = 3
    /// Or no such source.
    case noSuchService = 4
    /// The caller lacks the right.
    case notPermitted = 5
    case unreachable = 69
    /// The configuration is wrong.
    case configuration = 78
    /// As timeout(1).
    case timedOut = 124
    /// As a shell: the command is there, but cannot be run.
    case commandNotRun = 126
    case noSuchCommand = 127
}

/// The end of a command that is no success, with what is to be said on stderr.
struct CommandFailure: Error {
    let status: ExitStatus
    let message: String?

    init(_ status: ExitStatus, _ message: String? = nil) {
        self.status = status
        self.message = message
    }
}
