import Glibc
package import POSIX

/// The receiving end of a datagram socket, in the role of the service manager or of journald.
package final class DatagramListener {
    package let descriptor: Int32

    /// Binds a socket there.
    package init(_ address: SocketAddress) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let code = unsafe address.withKernelForm { unsafe bind(descriptor, $0, $1) }
        guard code == 0 else { throw TestFailure("bind '\(address)': errno \(errno)") }
    }

    deinit { close(descriptor) }

    /// The next datagram; nil when none comes in time.
    package func next(within milliseconds: Int32 = 60_000) throws -> String? {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&ready, 1, milliseconds) > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw TestFailure("receive: errno \(errno)") }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }
}
