import CivilTime
import Glibc
import POSIX

/// A stream socket of this host, unix(7), closed together with this object.
final class StreamSocket {
    let descriptor: Int32
    private let path: String
    /// The file of the socket that listens; nil before.
    private var file: stat?

    /// Makes an unconnected socket. Errors name `path`; `flags` are the flags of socket(2).
    init(_ path: String, flags: Int32 = 0) throws(SocketError) {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | flags
        let descriptor = Glibc.socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw SocketError("make a socket for", path, .system(errno)) }
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    func connect() throws(SocketError) {
        try unsafe onAddress("connect to", path) { address, length in
            unsafe Glibc.connect(descriptor, address, length)
        }
    }

    /// A socket that listens at the path, for the own user and a group. One at which nobody listens is replaced, by
    /// renaming. Where the process may not give it to the group, it keeps that of the process.
    convenience init(_ path: String, listeningFor group: UInt32?) throws(SocketError) {
        try self.init(path, flags: Int32(SOCK_NONBLOCK.rawValue))
        try makeRoom()
        let hidden = path + ".new"
        unsafe unlink(hidden)
        try unsafe onAddress("listen at", hidden) { address, length in
            unsafe bind(descriptor, address, length)
        }
        // The shipped unit has this group already, and forbids the call.
        if let group, Self.status(of: hidden)?.st_gid != group {
            _ = unsafe chown(hidden, .max, group)
        }
        let isThere =
            unsafe chmod(hidden, 0o660) == 0 && listen(descriptor, 64) == 0
            && rename(hidden, path) == 0
        guard isThere else {
            let code = errno
            unsafe unlink(hidden)
            throw SocketError("listen at", path, .system(code))
        }
        file = Self.status(of: path)
    }

    /// Whether clients that connect to the path come to this socket.
    var isAtPath: Bool {
        guard let file, let there = Self.status(of: path) else { return false }
        return file.st_dev == there.st_dev && file.st_ino == there.st_ino
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status : nil
    }

    /// Throws if the path is no socket, or if another process listens at it.
    private func makeRoom() throws(SocketError) {
        guard let status = Self.status(of: path) else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SocketError("listen at", path, .notASocket)
        }
        let probe = try StreamSocket(path, flags: Int32(SOCK_NONBLOCK.rawValue))
        do { try probe.connect() } catch { if error.isNobodyThere { return } }
        throw SocketError("listen at", path, .taken)
    }

    private func onAddress(
        _ operation: String, _ path: String, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SocketError) {
        let code = unsafe SocketAddress.path(path).withKernelForm { address, length in
            unsafe call(address, length) == 0 ? 0 : errno
        }
        guard let code else { throw SocketError(operation, path, .tooLong) }
        guard code == 0 else { throw SocketError(operation, path, .system(code)) }
    }
}

/// A failed operation on the control socket.
package struct SocketError: Error, Hashable, CustomStringConvertible {
    /// Why it failed.
    package enum Cause: Hashable, Sendable, CustomStringConvertible {
        case system(Int32)
        /// The path is too long for a socket's address, unix(7).
        case tooLong
        /// Another process listens at the path.
        case taken
        case notASocket
        /// The daemon did not answer in this time, nor another question.
        case silent(Duration)
        /// The other end closed the connection before its reply.
        case closed
        /// The reply does not follow the protocol.
        case malformed

        /// The part of the message behind the colon.
        package var description: String {
            switch self {
            case .system(EAGAIN): "no answer in time"
            case .silent(let time):
                "no answer within \(time.wholeSeconds) s; see 'systemctl status killswitchd'"
            case .system(let code): SystemError.text(of: code)
            case .tooLong: "the path is too long for a socket"
            case .taken: "another program listens there"
            case .notASocket: "it is not a socket"
            case .closed: "the connection was closed"
            case .malformed: "the answer is malformed"
            }
        }
    }

    /// The verb of the message: `listen at`, `connect to`.
    package let operation: String
    package let path: String
    package let cause: Cause

    /// An error that reads `OPERATION 'PATH': CAUSE`.
    package init(_ operation: String, _ path: String, _ cause: Cause) {
        self.operation = operation
        self.path = path
        self.cause = cause
    }

    /// Whether nobody listens at the path: no daemon is running.
    package var isNobodyThere: Bool {
        [.system(ENOENT), .system(ENOTDIR), .system(ECONNREFUSED)].contains(cause)
    }

    /// Whether the daemon is there and did not answer in time.
    package var isSilent: Bool {
        if case .silent = cause { true } else { cause == .system(EAGAIN) }
    }

    /// Whether the socket is for others: for root and the group.
    package var isDenied: Bool { cause == .system(EACCES) }

    /// `connect to '/run/killswitchd/control.sock': no such file or directory`
    package var description: String { "\(operation) '\(path)': \(cause)" }
}
