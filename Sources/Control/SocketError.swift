import Faults
import Glibc

/// A call on the control socket that failed.
package struct SocketError: Error, Hashable, CustomStringConvertible {
    /// What stood in the way.
    package enum Cause: Hashable, Sendable {
        /// The kernel's word for it, an `errno(3)`.
        case system(Int32)
        /// The path does not fit into the address of a socket, unix(7).
        case tooLong
        /// Somebody else answers there.
        case taken
        /// There is something that is no socket.
        case notASocket
        /// The other end is gone, and an answer was still to come.
        case closed
        /// What came does not follow the protocol.
        case malformed
    }

    /// The verb: `listen at`, `connect to`.
    package let operation: String
    package let path: String
    package let cause: Cause

    package init(_ operation: String, _ path: String, _ cause: Cause) {
        self.operation = operation
        self.path = path
        self.cause = cause
    }

    /// Nobody listens there: no daemon runs, or none did ever.
    package var isNobodyThere: Bool {
        switch cause {
        case .system(let code): code == ENOENT || code == ENOTDIR || code == ECONNREFUSED
        case .tooLong, .taken, .notASocket, .closed, .malformed: false
        }
    }

    package var description: String { "\(operation) '\(path)': \(cause)" }
}

extension SocketError.Cause: CustomStringConvertible {
    package var description: String {
        switch self {
        case .system(EAGAIN): "no answer in time"
        case .system(let code): SystemError.text(of: code)
        case .tooLong: "the path is too long for a socket"
        case .taken: "another program listens there"
        case .notASocket: "it is no socket"
        case .closed: "the connection was closed"
        case .malformed: "the answer is malformed"
        }
    }
}
