package import Glibc

/// Where a datagram goes on this host, unix(7).
package enum SocketAddress: Hashable, Sendable {
    /// A socket in the file system.
    case path(String)
    /// A name that is no file: an address that begins with a NUL byte.
    case abstract(String)

    /// As systemd writes it in variables: `/run/socket`, or `@name` for an abstract one. Nil for
    /// anything else, such as `vsock:`.
    package init?(_ text: String) {
        switch text.utf8.first {
        case UInt8(ascii: "/"): self = .path(text)
        case UInt8(ascii: "@"): self = .abstract(String(text.dropFirst()))
        default: return nil
        }
    }
}

extension SocketAddress: CustomStringConvertible {
    package var description: String {
        switch self {
        case .path(let path): path
        case .abstract(let name): "@\(name)"
        }
    }
}

extension SocketAddress {
    /// Calls `body` with the address as the kernel takes it; nil where it is too long for that.
    ///
    /// The length counts, for in an abstract name every byte is a part of it.
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
