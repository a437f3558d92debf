import Glibc

/// A port that was free a moment ago.
package func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe bind(descriptor, $0, size) == 0
                ? getsockname(descriptor, $0, &size) : -1
        }
    }
    guard code == 0 else { throw TestFailure("find a free port: errno \(errno)") }
    return Int(UInt16(bigEndian: address.sin_port))
}
