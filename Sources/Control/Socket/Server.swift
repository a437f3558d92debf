import CivilTime
package import EventLoop
import Glibc

/// The control socket: listens, and has the calls of each client answered.
///
/// Nothing here blocks. A client that is slow, silent, malformed or sends too much loses its own
/// connection, and costs no more than `ServerLimits` allows.
package final class Server {
    let dispatcher: Dispatcher
    private let loop: EventLoop
    private let limits: ServerLimits
    private let socket: StreamSocket
    private var readiness: Descriptor?
    private var retry: Timer?
    private var connections: [ObjectIdentifier: Connection] = [:]

    /// Listens at `path`. A socket at which nobody listens any more is replaced.
    package init(
        _ loop: EventLoop, path: String, _ dispatcher: Dispatcher,
        limits: ServerLimits = ServerLimits()
    ) throws {
        self.loop = loop
        self.dispatcher = dispatcher
        self.limits = limits
        socket = try StreamSocket(path, flags: Int32(SOCK_NONBLOCK.rawValue))
        try socket.listen(backlog: 1024)
        readiness = try Descriptor(loop, socket.descriptor, .readable) { [unowned self] _ in
            accept()
        }
        retry = try Timer(loop, accuracy: .milliseconds(100)) { [unowned self] in
            listen(for: .readable)
        }
    }

    /// Gives each waiting call a chance to be answered.
    package func advance(_ trigger: ReplyTrigger) {
        for connection in connections.values { connection.advance(trigger) }
    }

    /// Whether the bytes that wait for clients are within the limit.
    var hasRoom: Bool {
        connections.values.reduce(0) { $0 + $1.unsent.count } <= limits.unsent
    }

    /// Forgets a connection that has ended.
    func drop(_ connection: Connection) {
        connections[ObjectIdentifier(connection)] = nil
    }

    private func accept() {
        let descriptor = Glibc.accept(socket.descriptor, nil, nil)
        guard descriptor >= 0 else {
            // Out of descriptors: the waiting client would wake the loop again and again.
            if errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS { pause() }
            return
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        guard let peer = Peer(of: descriptor), let isReader = place(for: peer) else {
            close(descriptor)
            return
        }
        do {
            let connection = try Connection(
                loop, descriptor, peer: peer, isReader: isReader, server: self)
            connections[ObjectIdentifier(connection)] = connection
        } catch {
            pause()
        }
    }

    /// Whether the peer would take a place for readers; nil if there is no place left for it.
    private func place(for peer: Peer) -> Bool? {
        guard connections.count < limits.connections else { return nil }
        if dispatcher.mayAct(peer) { return false }
        let readers = connections.values.count { $0.isReader }
        return readers < limits.readers ? true : nil
    }

    private func pause() {
        listen(for: [])
        tryLater()
    }

    private func listen(for events: Descriptor.Events) {
        do {
            try readiness?.listen(for: events)
        } catch {
            tryLater()
        }
    }

    private func tryLater() { retry?.set(at: loop.now.boot + .seconds(1)) }
}

/// How much all clients together may cost the daemon.
package struct ServerLimits: Sendable {
    /// Connections at a time. A process has 1,024 descriptors by default, and the sources need some.
    package var connections = 640
    /// The most connections of clients that may only read. The rest is reserved for clients that
    /// may act.
    package var readers = 512
    /// Bytes of replies that wait for their clients. The connection whose reply exceeds it is closed.
    package var unsent = 16 << 20

    /// The limits of the daemon.
    package init() {}
}
