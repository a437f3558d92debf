import CivilTime
package import EventLoop
import Glibc

/// The control socket: listens, and has the calls of each client answered.
///
/// Clients that may only read come after everything else on the loop, and share what `ServerLimits` allows, user by
/// user. A client that is slow, silent, malformed or sends too much loses its own connection.
package final class Server {
    let dispatcher: Dispatcher
    /// How much the clients may cost from now on.
    package var limits: ServerLimits
    private let loop: EventLoop
    private let path: String
    private var socket: StreamSocket
    private let operators: FairScheduler
    private let readers: FairScheduler
    private var readiness: Descriptor?
    private var retry: Timer?
    private var sweep: Timer?
    private var isSweeping = false
    private var statusChange: Deferred?
    private var connections: [ObjectIdentifier: Connection] = [:]

    /// Listens at `path`. A socket at which nobody listens any more is replaced.
    package init(
        _ loop: EventLoop, path: String, _ dispatcher: Dispatcher,
        limits: ServerLimits = ServerLimits()
    ) throws {
        self.loop = loop
        self.dispatcher = dispatcher
        self.limits = limits
        operators = try FairScheduler(loop, priority: .low, ofUser: 1, ofAll: 1)
        readers = try FairScheduler(loop, priority: .idle, ofUser: 0.25, ofAll: 0.5)
        self.path = path
        socket = try Self.listen(at: path)
        readiness = try readiness(of: socket)
        retry = try Timer(loop, accuracy: .milliseconds(100)) { [unowned self] in resume() }
        sweep = try Timer(loop, accuracy: .seconds(1)) { [unowned self] in closeIdle() }
        statusChange = Deferred(loop, priority: .low) { [unowned self] in
            for connection in connections.values { connection.statusChanged() }
        }
    }

    /// Whether the socket is still at its path.
    package var isAtPath: Bool { socket.isAtPath }

    /// Listens at the path again if somebody has deleted the socket. Connections stay.
    package func listenAgain() throws {
        if isAtPath { return }
        let socket = try Self.listen(at: path)
        readiness = try readiness(of: socket)
        self.socket = socket
    }

    private static func listen(at path: String) throws -> StreamSocket {
        let socket = try StreamSocket(path, flags: Int32(SOCK_NONBLOCK.rawValue))
        try socket.listen(backlog: 1024)
        return socket
    }

    private func readiness(of socket: StreamSocket) throws -> Descriptor {
        try Descriptor(loop, socket.descriptor, .readable, priority: .idle) { [unowned self] _ in
            accept()
        }
    }

    /// Lets each waiting call be answered: one that acts at once, one that reads after everything else on the loop.
    package func advance(_ trigger: ReplyTrigger) {
        guard !connections.isEmpty else { return }
        for connection in connections.values { connection.advance(trigger) }
        statusChange?.arm()
    }

    /// Forgets a connection that has ended.
    func drop(_ connection: Connection) { connections[ObjectIdentifier(connection)] = nil }

    /// Ends connections until the others keep no more bytes than the limits allow. The user with the most
    /// bytes loses the connection that was inactive the longest; `current` is never ended here.
    func trim(keeping current: Connection) {
        while let slow = surplus(beside: current) { slow.close() }
    }

    /// The next connection that makes room for `current`; nil if the bytes are within the limits.
    private func surplus(beside current: Connection) -> Connection? {
        guard current.held > 0 else { return nil }
        let isReader = current.isReadOnly
        let holding = connections.values.filter { $0.isReadOnly == isReader && $0.held > 0 }
        if isReader {
            let own = holding.filter { $0.peer.user == current.peer.user }
            if own.held > limits.bytesOfUser, let slow = own.slowest(besides: current) {
                return slow
            }
        }
        guard holding.held > limits.bytes else { return nil }
        let greedy = isReader ? holding.byUser.max { $0.held < $1.held } : nil
        return greedy?.slowest(besides: current) ?? holding.slowest(besides: current)
    }

    // MARK: - Coming and going

    /// How many connections are accepted before other clients have their turn.
    private static let batch = 32

    private func accept() {
        for _ in 0..<Self.batch {
            let descriptor = Glibc.accept(socket.descriptor, nil, nil)
            guard descriptor >= 0 else {
                // Out of descriptors: the waiting client would wake the loop again and again.
                if [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(errno) { pause() }
                return
            }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            guard let peer = Peer(of: descriptor), let isReader = place(for: peer) else {
                close(descriptor)
                continue
            }
            do {
                let connection = try Connection(
                    loop, descriptor, peer: peer, isReader: isReader,
                    turns: isReader ? readers : operators, server: self)
                connections[ObjectIdentifier(connection)] = connection
                if isReader, !isSweeping { armSweep() }
            } catch {
                return pause()
            }
        }
    }

    /// Whether the peer would take a place for readers; nil if there is none for it. A reader makes room for
    /// a client that may act, and for a user who has fewer places.
    private func place(for peer: Peer) -> Bool? {
        let readers = connections.values.filter(\.isReadOnly)
        let crowd = readers.byUser.max { $0.count < $1.count } ?? []
        if dispatcher.mayAct(peer) {
            if connections.count < limits.connections { return false }
            guard let oldest = crowd.slowest() else { return nil }
            oldest.close()
            return false
        }
        let own = readers.count { $0.peer.user == peer.user }
        guard own < limits.readersOfUser else { return nil }
        if readers.count < limits.readers { return true }
        guard own + 1 < crowd.count else { return nil }
        crowd.slowest()?.close()
        return true
    }

    /// Ends readers whose clients have not done their part for too long.
    private func closeIdle() {
        let now = EventLoop.uptime
        for connection in connections.values where connection.isReadOnly {
            if connection.waitsForClient, now - connection.active > limits.idle {
                connection.close()
            }
        }
        readers.tidy()
        isSweeping = false
        if connections.values.contains(where: \.isReadOnly) { armSweep() }
    }

    private func armSweep() {
        isSweeping = true
        sweep?.set(at: loop.now.boot + limits.idle / 4)
    }

    private func pause() {
        do { try readiness?.listen(for: []) } catch {}
        retry?.set(at: loop.now.boot + .seconds(1))
    }

    private func resume() {
        do { try readiness?.listen(for: .readable) } catch { pause() }
    }
}

extension [Connection] {
    /// The bytes that they keep.
    fileprivate var held: Int { reduce(0) { $0 + $1.held } }

    fileprivate var byUser: [[Connection]] {
        [[Connection]](Dictionary(grouping: self, by: \.peer.user).values)
    }

    /// The connection that was active the longest time ago.
    fileprivate func slowest(besides current: Connection? = nil) -> Connection? {
        filter { $0 !== current }.min { $0.active < $1.active }
    }
}

/// How much all clients together may cost the daemon.
package struct ServerLimits {
    /// Connections at a time. At the limit, a client that may act takes the place of a reader.
    package var connections = 640
    /// The most connections of clients that may only read.
    package var readers = 512
    /// The most connections of one user who may only read.
    package var readersOfUser = 128
    /// Bytes that are kept for clients that may only read, and as many for those that may act.
    package var bytes = 16 << 20
    /// Bytes that are kept for one user who may only read.
    package var bytesOfUser = 4 << 20
    /// How long a client that may only read may be silent, or not read its reply.
    package var idle: Duration = .seconds(60)

    package init() {}

    /// The limits of the daemon where all clients together may take at most `descriptors`. If these are few,
    /// readers lose their places first; clients that may act always have a handful.
    package init(within descriptors: Int) {
        let reserved = connections - readers
        connections = min(connections, max(descriptors, Self.handful))
        readers = max(
            0, min(readers, connections - min(reserved, max(connections / 2, Self.handful))))
        readersOfUser = min(readersOfUser, max(1, readers / 2))
    }

    private static let handful = 8
}
