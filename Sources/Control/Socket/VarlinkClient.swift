import Glibc
package import JSON

/// A client of the control socket that blocks until the reply, for the command line.
package struct VarlinkClient {
    private let path: String
    private let timeout: Duration?

    /// A client of the daemon that listens at `path`. With a `timeout`, sending and receiving fail after
    /// that time, so that a frozen daemon does not freeze its clients.
    package init(_ path: String, timeout: Duration? = nil) {
        self.path = path
        self.timeout = timeout
    }

    /// Calls a method of `io.killswitchd` over a connection of its own; returns the reply. Throws a
    /// `MethodError`, or a `SocketError` if the daemon does not answer.
    /// `passing` is an open file that the daemon gets with the call, such as `LoginUser.file`.
    package func call(
        _ method: String, _ parameters: JSON.Object = [:], passing file: Int32? = nil
    ) throws -> JSON.Object {
        let socket = try StreamSocket(path)
        if let timeout { try setTimeouts(timeout, of: socket) }
        try socket.connect()
        let call = MethodCall(interface: Interface.name, method: method, parameters: parameters)
        try send(call.message, passing: file, to: socket)
        switch try receive(from: socket) {
        case .last(let parameters), .more(let parameters): return parameters
        case .failure(let error): throw error
        }
    }

    /// The longest reply in bytes: the states of all services, with texts and values of any length.
    private static let limit = 256 << 20

    private func setTimeouts(_ timeout: Duration, of socket: StreamSocket) throws(SocketError) {
        let (seconds, attoseconds) = timeout.components
        var time = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
        let length = socklen_t(MemoryLayout<timeval>.size)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            let code = unsafe setsockopt(socket.descriptor, SOL_SOCKET, option, &time, length)
            guard code == 0 else { throw SocketError("set up", path, .system(errno)) }
        }
    }

    private func send(
        _ message: [UInt8], passing file: Int32?, to socket: StreamSocket
    ) throws(SocketError) {
        var file = file
        var rest = message[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                if let file {
                    return unsafe PassedDescriptor.send(bytes, with: file, to: socket.descriptor)
                }
                return unsafe Glibc.send(
                    socket.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                file = nil
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw lost(errno)
            }
        }
    }

    private func receive(from socket: StreamSocket) throws(SocketError) -> Reply {
        var framing = Framing(limit: Self.limit)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let message: [UInt8]?
            do { message = try framing.next() } catch { throw failure(.malformed) }
            if let message {
                guard let reply = Reply(message) else { throw failure(.malformed) }
                return reply
            }
            let count = unsafe recv(socket.descriptor, &buffer, buffer.count, 0)
            if count > 0 {
                framing.append(buffer[..<count])
            } else if count == 0 {
                throw failure(.closed)
            } else if errno != EINTR {
                throw lost(errno)
            }
        }
    }

    private func lost(_ code: Int32) -> SocketError {
        failure(code == EPIPE || code == ECONNRESET ? .closed : .system(code))
    }

    private func failure(_ cause: SocketError.Cause) -> SocketError {
        SocketError("ask", path, cause)
    }
}
