import CivilTime
import EventLoop
import Glibc
package import JSON

/// A client of the control socket that blocks until the reply, for the command line.
package struct VarlinkClient {
    private let path: String
    private let timeLimit: Duration?
    private let watchWait: (Duration?) -> Void

    /// A client of the daemon that listens at `path`. Without a `timeLimit` a call waits as long as the daemon works on
    /// it: until it does not answer another question either. `watchWait` is called each second while a call waits, and
    /// with nil at its end.
    package init(
        _ path: String, timeLimit: Duration?, watchWait: @escaping (Duration?) -> Void = { _ in }
    ) {
        self.path = path
        self.timeLimit = timeLimit
        self.watchWait = watchWait
    }

    /// Calls a method, by default of `io.killswitchd`, over a connection of its own; returns the reply. Throws a
    /// `MethodError`, or a `SocketError` if the daemon does not answer.
    /// `passing` is an open file that the daemon gets with the call, such as `LoginUser.file`.
    package func call(
        _ method: String, _ parameters: JSON.Object = [:], of interface: String = Interface.name,
        passing file: Int32? = nil
    ) throws -> JSON.Object {
        let socket = try StreamSocket(path)
        // A stopped daemon accepts no connection once enough are waiting.
        try setSendLimit(Self.step, of: socket)
        try socket.connect()
        let call = MethodCall(interface: interface, method: method, parameters: parameters)
        try send(call.message, passing: file, to: socket)
        switch try receive(from: socket) {
        case .last(let parameters), .more(let parameters): return parameters
        case .failure(let error): throw error
        }
    }

    /// The longest reply in bytes: the states of all services, with texts and values of any length.
    private static let limit = 256 << 20

    /// After which time, again and again, a patient call asks whether the daemon works.
    private static let step: Duration = .seconds(10)

    private func setSendLimit(_ limit: Duration, of socket: StreamSocket) throws(SocketError) {
        var time = timeval(tv_sec: Int(limit.components.seconds), tv_usec: 0)
        let length = socklen_t(MemoryLayout<timeval>.size)
        let code = unsafe setsockopt(socket.descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, length)
        guard code == 0 else { throw SocketError("set up", path, .system(errno)) }
    }

    /// Waits until something can be read. Throws if the daemon is silent for too long.
    private func awaitInput(
        _ socket: StreamSocket, since began: Boottime
    ) throws(SocketError) {
        var nextQuestion = began + Self.step
        while true {
            let rest = timeLimit.map { began + $0 - EventLoop.bootClock } ?? .seconds(1)
            let wait = Int32(max(.zero, min(.seconds(1), rest)).microseconds / 1000 + 1)
            var poll = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
            let count = unsafe Glibc.poll(&poll, 1, wait)
            if count > 0 { return }
            guard count == 0 || errno == EINTR else { throw lost(errno) }
            let time = EventLoop.bootClock - began
            watchWait(time)
            if let timeLimit {
                if time >= timeLimit { throw failure(.silent(time)) }
            } else if EventLoop.bootClock >= nextQuestion {
                guard doesAnswer else { throw failure(.silent(EventLoop.bootClock - began)) }
                nextQuestion = EventLoop.bootClock + Self.step
            }
        }
    }

    /// Whether the daemon answers a call that does nothing.
    private var doesAnswer: Bool {
        do {
            _ = try VarlinkClient(path, timeLimit: .seconds(2)).call(
                "GetInfo", of: Interface.standard)
            return true
        } catch {
            return error is MethodError
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
            } else if errno == EPIPE {
                // The daemon has refused the connection, and said so.
                return
            } else if errno != EINTR {
                throw lost(errno)
            }
        }
    }

    private func receive(from socket: StreamSocket) throws(SocketError) -> Reply {
        var framing = Framing(limit: Self.limit)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let began = EventLoop.bootClock
        defer { watchWait(nil) }
        while true {
            let message: [UInt8]?
            do { message = try framing.next() } catch { throw failure(.malformed) }
            if let message {
                guard let reply = Reply(message) else { throw failure(.malformed) }
                return reply
            }
            try awaitInput(socket, since: began)
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
