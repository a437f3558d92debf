import Glibc
package import JSON

/// A client of the control socket that blocks until the reply, for the command line.
package final class VarlinkClient {
    private let socket: StreamSocket
    private let path: String
    private var framing: Framing

    /// Connects to the daemon that listens at `path`. With a `timeout`, sending and receiving fail after
    /// that time, so that a frozen daemon does not freeze its clients.
    package init(_ path: String, timeout: Duration? = nil) throws(SocketError) {
        self.path = path
        socket = try StreamSocket(path)
        framing = Framing(limit: Self.limit)
        if let timeout { try setTimeouts(timeout) }
        try socket.connect()
    }

    /// Calls a method of `io.killswitchd`; returns its reply or its error.
    package func call(
        _ method: String, _ parameters: JSON.Object = JSON.Object()
    ) throws(SocketError) -> Result<JSON.Object, MethodError> {
        let call = MethodCall(interface: Interface.name, method: method, parameters: parameters)
        try send(call.message)
        switch try receive() {
        case .last(let parameters), .more(let parameters): return .success(parameters)
        case .failure(let failure): return .failure(failure)
        }
    }

    /// The longest reply in bytes: the states of all services, with texts and values of any length.
    private static let limit = 256 << 20

    private func setTimeouts(_ timeout: Duration) throws(SocketError) {
        let (seconds, attoseconds) = timeout.components
        var time = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
        let length = socklen_t(MemoryLayout<timeval>.size)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            let code = unsafe setsockopt(socket.descriptor, SOL_SOCKET, option, &time, length)
            guard code == 0 else { throw SocketError("set up", path, .system(errno)) }
        }
    }

    private func send(_ message: [UInt8]) throws(SocketError) {
        var rest = message[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(
                    socket.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw lost("ask", errno)
            }
        }
    }

    private func receive() throws(SocketError) -> Reply {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            do {
                if let message = try framing.next() {
                    guard let reply = Reply(message) else {
                        throw SocketError("ask", path, .malformed)
                    }
                    return reply
                }
            } catch let error as SocketError {
                throw error
            } catch {
                throw SocketError("ask", path, .malformed)
            }
            let count = unsafe recv(socket.descriptor, &buffer, buffer.count, 0)
            if count > 0 {
                framing.append(buffer[..<count])
            } else if count == 0 {
                throw SocketError("ask", path, .closed)
            } else if errno != EINTR {
                throw lost("ask", errno)
            }
        }
    }

    private func lost(_ operation: String, _ code: Int32) -> SocketError {
        let isClosed = code == EPIPE || code == ECONNRESET
        return SocketError(operation, path, isClosed ? .closed : .system(code))
    }
}
