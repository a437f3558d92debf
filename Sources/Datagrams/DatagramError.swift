import Glibc

/// Why a datagram was not sent: what was tried, and the errno(3) it gave.
package struct DatagramError: Error, Hashable, CustomStringConvertible {
    /// The verb and its object, as a person says it: `send to '/run/systemd/notify'`.
    package let call: String
    package let code: Int32

    /// The receiver takes no more now: it is slow, stopped or frozen.
    package var isFull: Bool { code == EAGAIN || code == ENOBUFS }

    package var description: String {
        var text = unsafe String(cString: strerror(code))
        if let first = text.first { text = first.lowercased() + text.dropFirst() }
        return "\(call): \(text)"
    }
}
