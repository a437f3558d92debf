import Glibc

/// A socket that sends datagrams on this host and never waits: what the receiver does not take at
/// once is an error.
///
/// It is not connected, so that a receiver which was restarted is found again.
package final class DatagramSocket {
    private let descriptor: Int32

    /// Throws where the process has no descriptor left.
    package init() throws(DatagramError) {
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw DatagramError(call: "make socket", code: errno) }
    }

    deinit { close(descriptor) }

    /// Sends all of it or nothing.
    package func send(_ bytes: [UInt8], to address: SocketAddress) throws(DatagramError) {
        let code = unsafe address.withKernelForm { target, length -> Int32 in
            while true {
                let count = unsafe sendto(
                    descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), target, length)
                if count >= 0 { return 0 }
                guard errno == EINTR else { return errno }
            }
        }
        guard code != 0 else { return }
        throw DatagramError(call: "send to '\(address)'", code: code ?? ENAMETOOLONG)
    }
}
