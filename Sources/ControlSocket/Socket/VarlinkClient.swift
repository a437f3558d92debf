import CivilTime
import Glibc
package import JSON

/// A client of the control socket that blocks until the reply, for the command line.
package struct VarlinkClient {
    private let path: String
    private let timeLimit: Duration?
    private let watchWait: (WaitingCall?) -> Void

    /// A client of the daemon that listens at `path`. Without a `timeLimit` a call waits as long as the daemon works on
    /// it: until it is stopped for ten seconds, or answers no other call either for a minute. `watchWait` is called
    /// each second while a call waits, and with nil at its end.
    package init(
        _ path: String, timeLimit: Duration?, watchWait: @escaping (WaitingCall?) -> Void = { _ in }
    ) {
        self.path = path
        self.timeLimit = timeLimit
        self.watchWait = watchWait
    }

    /// Calls a method of `io.killswitchd` over a connection of its own; returns the reply. Throws a
    /// `MethodError`, or a `SocketError` if the daemon does not answer.
    /// `passing` is an open file that the daemon gets with the call, such as `LoginUser.file`.
    package func call(
        _ method: String, _ parameters: JSON.Object = [:], passing file: Int32? = nil
    ) throws -> JSON.Object {
        let socket = try StreamSocket(path)
        // A stopped daemon accepts no connection once enough are waiting.
        try setSendLimit(Self.step, of: socket)
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

    /// After which time a patient call asks whether the daemon works.
    private static let step: Duration = .seconds(10)

    private func setSendLimit(_ limit: Duration, of socket: StreamSocket) throws(SocketError) {
        var time = timeval(tv_sec: Int(limit.components.seconds), tv_usec: 0)
        let length = socklen_t(MemoryLayout<timeval>.size)
        let code = unsafe setsockopt(socket.descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, length)
        guard code == 0 else { throw SocketError("set up", path, .system(errno)) }
    }

    /// Waits until something can be read. Throws if the daemon is silent for too long.
    private func awaitInput(_ socket: StreamSocket, _ wait: inout WaitingCall) throws(SocketError) {
        while true {
            var poll = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
            let rest = wait.untilNextUpdate(timeLimit)
            let count = unsafe Glibc.poll(&poll, 1, Int32(rest.microseconds / 1000 + 1))
            if count > 0 { return }
            guard count == 0 || errno == EINTR else { throw lost(errno) }
            wait.update()
            watchWait(wait)
            if let timeLimit {
                if wait.time < timeLimit { continue }
            } else {
                guard wait.isSilent(for: Self.step) else { continue }
                let isWorking = !wait.isStopped && doesAnswer
                if isWorking { wait.markAnswer() }
                if isWorking || !wait.isStopped && !wait.isSilent(for: Self.step * 6) { continue }
            }
            throw failure(.silent(wait))
        }
    }

    /// Whether the daemon answers a call that only reads.
    private var doesAnswer: Bool {
        do {
            _ = try VarlinkClient(path, timeLimit: .seconds(2)).call("Drills", [:])
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
            } else if errno != EINTR {
                throw lost(errno)
            }
        }
    }

    private func receive(from socket: StreamSocket) throws(SocketError) -> Reply {
        var framing = Framing(limit: Self.limit)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var wait = WaitingCall(for: Peer(of: socket.descriptor)?.process)
        defer { if wait.time > .zero { watchWait(nil) } }
        while true {
            let message: [UInt8]?
            do { message = try framing.next() } catch { throw failure(.malformed) }
            if let message {
                guard let reply = Reply(message) else { throw failure(.malformed) }
                return reply
            }
            try awaitInput(socket, &wait)
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
