import Glibc

/// The standard error of this process. Writing to it never waits: a reader that does not read must
/// not stop the program.
package enum StandardError {
    /// Whether it is the file that `identity` names, as `DEVICE:INODE` (systemd.exec(5)).
    private static func leads(to identity: String) -> Bool {
        var status = stat()
        guard unsafe fstat(STDERR_FILENO, &status) == 0 else { return false }
        return identity == "\(status.st_dev):\(status.st_ino)"
    }

    /// Whether it leads to the journal: systemd names that in `JOURNAL_STREAM`. A line may begin
    /// with `<N>` there, its priority (sd-daemon(3)).
    package static var isJournal: Bool {
        guard let stream = unsafe getenv("JOURNAL_STREAM") else { return false }
        return leads(to: unsafe String(cString: stream))
    }

    /// Writes one line in one call, so that the lines of several processes do not mix. False if the
    /// line was dropped because the reader does not read.
    ///
    /// A line is cut at `PIPE_BUF` bytes, which a pipe that is ready takes at once.
    @discardableResult
    package static func write(line: String) -> Bool {
        var ready = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&ready, 1, 0) == 1, ready.revents & Int16(POLLERR | POLLHUP) == 0 else {
            return false
        }
        let bytes = Array(line.utf8.prefix(Int(PIPE_BUF) - 1)) + [UInt8(ascii: "\n")]
        return unsafe bytes.withUnsafeBytes { unsafe Glibc.write(2, $0.baseAddress, $0.count) } > 0
    }

    /// Ignores `SIGPIPE`: when the reader has gone, `write(line:)` fails and the process goes on.
    package static func outliveReaders() {
        signal(SIGPIPE, SIG_IGN)
    }
}
