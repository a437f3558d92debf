import Glibc
package import JSON

/// The other end, for the command line: asks, and waits for the answer.
package final class Client {
    private let socket: StreamSocket
    private let path: String
    private var framing: Framing

    /// Connects to the daemon that listens at `path`. With a `patience` no answer takes longer: a daemon
    /// that was frozen does not freeze its clients.
    package init(_ path: String, patience: Duration? = nil) throws(SocketError) {
        self.path = path
        socket = try StreamSocket(path)
        framing = Framing(limit: Self.limit)
        if let patience { try setTimeouts(patience) }
        try socket.connect()
    }

    /// Calls a method of `io.killswitchd`, and gives its answer, or its error.
    package func call(
        _ method: String, _ parameters: JSON.Object = JSON.Object()
    ) throws(SocketError) -> Result<JSON.Object, MethodError> {
        let call = Call(interface: Interface.name, method: method, parameters: parameters)
        try send(call.message)
        switch try receive() {
        case .last(let parameters), .more(let parameters): return .success(parameters)
        case .failure(let failure): return .failure(failure)
        }
    }

    /// The longest answer there is: the states of all services, whose texts may be long.
    private static let limit = 256 << 20

    private func setTimeouts(_ patience: Duration) throws(SocketError) {
        let (seconds, attoseconds) = patience.components
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
