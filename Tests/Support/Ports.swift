import Glibc
import Synchronization

/// A port for a server that a test starts. It is given once, and it lies below the ports that the kernel gives to
/// a socket without a chosen port: no connection or server of another test takes it before the server listens, nor
/// while the server is away.
package func freePort() throws -> Int {
    for _ in ports {
        let port = nextPort.withLock { next in
            defer { next = next == ports.upperBound ? ports.lowerBound : next + 1 }
            return next
        }
        if try isFree(port) { return port }
    }
    throw TestFailure("find a free port: none from \(ports.lowerBound) to \(ports.upperBound)")
}

/// The kernel's own begin at 32768 (`/proc/sys/net/ipv4/ip_local_port_range`).
private let ports = 12_000...32_000

/// Begins anywhere, so that two runs of the tests at once rarely meet, or where KILLSWITCHD_TEST_PORTS says: the parts
/// of one run never do.
private let nextPort = Mutex(
    unsafe getenv("KILLSWITCHD_TEST_PORTS").flatMap { unsafe Int(String(cString: $0)) }
        ?? Int.random(in: ports))

/// Whether a server may listen at a port: also one that was closed a moment ago.
private func isFree(_ port: Int) throws -> Bool { try bound(to: port).map { close($0) } != nil }

/// A socket at a port of every address, as servers make theirs; nil where somebody has the port. A program that another
/// test starts at this moment does not inherit it, nor does it keep the port before its `exec`.
package func bound(to port: Int) throws -> Int32? {
    let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = socket(AF_INET, Int32(kind), 0)
    guard descriptor >= 0 else { throw TestFailure("find a free port: errno \(errno)") }
    var isReused: Int32 = 1
    let length = socklen_t(MemoryLayout<Int32>.size)
    _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, length)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(INADDR_ANY).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe bind(descriptor, $0, size) == 0
        }
    }
    guard isBound else {
        close(descriptor)
        return nil
    }
    return descriptor
}
