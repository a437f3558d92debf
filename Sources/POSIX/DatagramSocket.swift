package import Glibc

/// A socket that sends datagrams on this host and never waits: one that the receiver does not take at once is an error.
/// It is not connected, so that it finds a receiver that was restarted.
package final class DatagramSocket {
    private let descriptor: Int32

    /// A new socket. Throws if the process has no descriptor left.
    package init() throws(SystemError) {
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw SystemError("make socket", code: errno) }
    }

    deinit { close(descriptor) }

    /// Sends all bytes in one datagram, or throws.
    package func send(_ bytes: [UInt8], to address: SocketAddress) throws(SystemError) {
        let code = unsafe address.withKernelForm { target, length -> Int32 in
            while true {
                let count = unsafe sendto(
                    descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), target, length)
                if count >= 0 { return 0 }
                guard errno == EINTR else { return errno }
            }
        }
        guard code != 0 else { return }
        throw SystemError("send to '\(address)'", code: code ?? ENAMETOOLONG)
    }
}

/// The address of a socket on this host, unix(7).
package enum SocketAddress: Hashable, Sendable, CustomStringConvertible {
    case path(String)
    /// A name in the abstract namespace: the kernel's address begins with a NUL byte.
    case abstract(String)

    /// Reads the form of systemd: `/run/socket`, or `@name` for an abstract name. Nil for others, such as `vsock:`.
    package init?(_ text: String) {
        switch text.utf8.first {
        case UInt8(ascii: "/"): self = .path(text)
        case UInt8(ascii: "@"): self = .abstract(String(text.dropFirst()))
        default: return nil
        }
    }

    package var description: String {
        switch self {
        case .path(let path): path
        case .abstract(let name): "@\(name)"
        }
    }

    /// Lends the address to `body` in the kernel's form, for that call; nil if it is too long.
    ///
    /// The kernel needs the length: in an abstract name every byte counts.
    package func withKernelForm<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes: [UInt8] =
            switch self {
            case .path(let path): Array(path.utf8) + [0]
            case .abstract(let name): [0] + Array(name.utf8)
            }
        guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = MemoryLayout<sa_family_t>.size + bytes.count
        return unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(length))
            }
        }
    }
}
