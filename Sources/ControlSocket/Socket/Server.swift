import CivilTime
package import EventLoop
import Glibc

/// The control socket: listens, and has the calls of each client answered.
///
/// Nothing here blocks. Clients that may only read come after everything else on the loop, and share what
/// `ServerLimits` allows, user by user. A client that is slow, silent, malformed or sends too much loses its own
/// connection.
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
    private var statusChange: Deferred?
    private var connections: [ObjectIdentifier: Connection] = [:]
    private var places = UserCounts()
    private var bytes = (ofReaders: UserCounts(), ofOperators: UserCounts())

    /// Listens at `path`. A socket at which nobody listens any more is replaced.
    package init(
        _ loop: EventLoop, path: String, _ dispatcher: Dispatcher,
        limits: ServerLimits = ServerLimits()
    ) throws {
        self.loop = loop
        self.dispatcher = dispatcher
        self.limits = limits
        operators = try FairScheduler(loop, priority: .low, share: nil)
        readers = try FairScheduler(loop, priority: .idle, share: limits.time)
        self.path = path
        socket = try Self.listen(at: path)
        readiness = try readiness(of: socket)
        retry = try Timer(loop, accuracy: .milliseconds(100)) { [unowned self] in
            listen(for: .readable)
        }
        sweep = try Timer(loop, accuracy: .seconds(1)) { [unowned self] in closeIdle() }
        statusChange = Deferred(loop, priority: .low) { [unowned self] in
            for connection in connections.values { connection.statusChanged() }
        }
    }

    /// Listens at the path again: somebody has deleted the socket. Connections stay.
    package func listenAgain() throws {
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

    /// Gives each waiting call a chance to be answered. A call that acts is answered at once; a call that
    /// reads, after everything else on the loop.
    package func advance(_ trigger: ReplyTrigger) {
        guard !connections.isEmpty else { return }
        for connection in connections.values { connection.advance(trigger) }
        statusChange?.arm()
    }

    /// Forgets a connection that has ended.
    func drop(_ connection: Connection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        if connection.isReadOnly { places.add(-1, of: connection.peer.user) }
        count(0, of: connection)
    }

    /// The connection keeps so many bytes now.
    private func count(_ held: Int, of connection: Connection) {
        let change = held - connection.counted
        connection.counted = held
        if connection.isReadOnly {
            bytes.ofReaders.add(change, of: connection.peer.user)
        } else {
            bytes.ofOperators.add(change, of: connection.peer.user)
        }
    }

    /// Ends connections until the others keep no more bytes than the limits allow. The user with the most
    /// bytes loses the connection that was inactive the longest; `current` is never ended here.
    func trim(keeping current: Connection) {
        guard connections[ObjectIdentifier(current)] != nil else { return }
        count(current.held, of: current)
        if current.isReadOnly {
            let user = current.peer.user
            while bytes.ofReaders.of(user) > limits.bytesOfUser,
                let slow = slowest(of: user, besides: current)
            {
                slow.close()
            }
            while bytes.ofReaders.total > limits.bytes, let user = bytes.ofReaders.largest,
                let slow = slowest(of: user, besides: current) ?? slowest(of: nil, besides: current)
            {
                slow.close()
            }
        } else {
            while bytes.ofOperators.total > limits.bytes,
                let slow = slowest(of: nil, besides: current)
            {
                slow.close()
            }
        }
    }

    /// Of the connections of a user, or of all, that keep bytes as `current` does: the one that was active
    /// the longest time ago.
    private func slowest(of user: UInt32?, besides current: Connection) -> Connection? {
        connections.values.filter {
            $0 !== current && $0.isReadOnly == current.isReadOnly && $0.held > 0
                && (user == nil || $0.peer.user == user)
        }.min { $0.active < $1.active }
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
                if isReader { enter(peer.user) }
            } catch {
                return pause()
            }
        }
    }

    private func enter(_ user: UInt32) {
        if places.total == 0 { sweep?.set(at: loop.now.boot + limits.idle / 4) }
        places.add(1, of: user)
    }

    /// Whether the peer would take a place for readers; nil if there is none for it. A reader makes room for
    /// a client that may act, and for a user who has fewer places.
    private func place(for peer: Peer) -> Bool? {
        let isReader = !dispatcher.mayAct(peer)
        if isReader {
            guard places.of(peer.user) < limits.readersOfUser else { return nil }
            guard places.total >= limits.readers else { return true }
            guard let crowd = places.largest, places.of(peer.user) + 1 < places.of(crowd) else {
                return nil
            }
            return closeOldest(of: crowd) ? true : nil
        }
        guard connections.count >= limits.connections else { return false }
        return places.largest.map(closeOldest) == true ? false : nil
    }

    /// Ends the connection of a user that was active the longest time ago.
    private func closeOldest(of user: UInt32) -> Bool {
        let oldest = connections.values.filter { $0.isReadOnly && $0.peer.user == user }
            .min { $0.active < $1.active }
        oldest?.close()
        return oldest != nil
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
        if places.total > 0 { sweep?.set(at: loop.now.boot + limits.idle / 4) }
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
