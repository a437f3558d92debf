import Glibc

/// A call of the kernel, the C library or libsystemd that failed.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The verb and object of the call: `add timer`, `watch '/etc/killswitchd'`.
    package let call: String
    /// The `errno(3)`, positive.
    package let code: Int32

    package init(_ call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// Turns the result of a call of libsystemd, a value or the negated `errno`, into a value or an error.
    @discardableResult
    package static func check(_ call: String, _ result: Int32) throws(SystemError) -> Int32 {
        guard result >= 0 else { throw SystemError(call, code: -result) }
        return result
    }

    /// The result of a call of the C library, -1 with `errno` for a failure, in the form that `check` takes.
    package static func negated(_ result: Int32) -> Int32 { result == -1 ? -errno : result }

    /// The path is not there, or something on the way to it is no directory.
    package var isNotFound: Bool { code == ENOENT || code == ENOTDIR }

    /// The receiver takes no more now: it is slow, stopped or frozen.
    package var isReceiverFull: Bool { code == EAGAIN || code == ENOBUFS }

    /// No receiver takes so much at once.
    package var isTooLarge: Bool { code == EMSGSIZE }

    package var description: String { "\(call): \(Self.text(of: code))" }

    /// The text of strerror(3) for an `errno(3)`, in lower case, so that it can end a sentence.
    package static func text(of code: Int32) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        let message = unsafe String(cString: text)
        return message.prefix(1).lowercased() + message.dropFirst()
    }
}

/// Conditions that no input can break. If one is broken all the same, the program names it and ends, and the service
/// manager starts it again. Swift's own `precondition` leaves the sentence out in an optimised build.
package enum Invariant {
    /// Ends the program unless `condition` is true. `sentence` states the condition.
    package static func hold(
        _ condition: Bool, _ sentence: @autoclosure () -> String, file: StaticString = #fileID,
        line: UInt = #line
    ) {
        if !condition { broken(sentence(), file: file, line: line) }
    }

    /// Writes one line to standard error, with the place in the sources, and ends by `SIGABRT`, as assert(3) does.
    /// Under systemd the line is an entry of the journal, of priority `crit`.
    package static func broken(
        _ sentence: String, file: StaticString = #fileID, line: UInt = #line
    ) -> Never {
        let path = CommandLine.arguments.first ?? ""
        let program = path.split(separator: "/").last.map(String.init) ?? "program"
        let text = "\(program): invariant broken: \(sentence) (\(file):\(line))"
        StandardError.write(line: StandardError.isJournal ? "<2>\(text)" : text)
        abort()
    }
}

/// The standard error of this process. Writing never waits: a reader must not stop the program.
package enum StandardError {
    /// Whether it leads to the journal: systemd names that in `JOURNAL_STREAM`, as `DEVICE:INODE` (systemd.exec(5)).
    /// A line may begin with `<N>` there, its priority (sd-daemon(3)).
    package static var isJournal: Bool {
        var status = stat()
        guard let stream = unsafe getenv("JOURNAL_STREAM"),
            unsafe fstat(STDERR_FILENO, &status) == 0
        else { return false }
        return unsafe String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }

    /// Writes one line in one call, so that the lines of several processes do not mix: it is cut at `PIPE_BUF` bytes,
    /// which a pipe that is ready takes at once. False if the line was dropped because the reader does not read.
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
    package static func outliveReaders() { signal(SIGPIPE, SIG_IGN) }
}
