import Glibc

/// The standard error of this process. Writing to it never waits: a reader that has stopped reading
/// must not stop the writer.
package enum StandardError {
    /// Whether it leads to what `identity` names, as `DEVICE:INODE` (systemd.exec(5)).
    private static func leads(to identity: String) -> Bool {
        var status = stat()
        guard unsafe fstat(STDERR_FILENO, &status) == 0 else { return false }
        return identity == "\(status.st_dev):\(status.st_ino)"
    }

    /// Whether it leads to the journal: systemd names that in `JOURNAL_STREAM`. A line may begin with
    /// `<N>` there, its priority (sd-daemon(3)).
    package static var isJournal: Bool {
        guard let stream = unsafe getenv("JOURNAL_STREAM") else { return false }
        return leads(to: unsafe String(cString: stream))
    }

    /// Writes one line, in one call, so that the lines of several processes do not mix; says whether
    /// it was written, and not dropped because nobody reads.
    ///
    /// A line is cut at `PIPE_BUF` bytes: so many are taken at once by a pipe that can be written to.
    @discardableResult
    package static func write(line: String) -> Bool {
        var ready = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&ready, 1, 0) == 1, ready.revents & Int16(POLLERR | POLLHUP) == 0 else {
            return false
        }
        let bytes = Array(line.utf8.prefix(Int(PIPE_BUF) - 1)) + [UInt8(ascii: "\n")]
        return unsafe bytes.withUnsafeBytes { unsafe Glibc.write(2, $0.baseAddress, $0.count) } > 0
    }

    /// Lets a reader that has gone be an error of `write(line:)`, and not the end of this process.
    package static func outliveReaders() {
        signal(SIGPIPE, SIG_IGN)
    }
}
