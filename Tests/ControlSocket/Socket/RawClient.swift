import EventLoop
import Glibc
import POSIX
import Support

/// A client of the socket that sends any bytes and never blocks.
final class RawClient {
    private let descriptor: Int32
    private(set) var received: [UInt8] = []
    /// Whether the server has ended the connection.
    private(set) var isCut = false

    init(_ path: String) throws {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_UNIX, type, 0)
        let result = unsafe SocketAddress.path(path).withKernelForm { address, length in
            unsafe connect(descriptor, address, length)
        }
        guard result == 0 else { throw TestFailure("connect: errno \(errno)") }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Shuts down its sending side.
    func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Receives the available bytes.
    func receive() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else {
                isCut = isCut || count == 0 || errno == ECONNRESET
                return
            }
            received += buffer[..<count]
        }
    }

    /// The number of whole messages so far.
    var messages: Int { received.count { $0 == 0 } }
}
