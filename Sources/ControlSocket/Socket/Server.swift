import CivilTime
package import EventLoop
import Glibc

/// The control socket: listens, and has the calls of each client answered.
///
/// Only root, the daemon's user and the group reach it, by the mode of the file, and each peer is checked all the same.
/// A client that sends too much, or something else than Varlink, loses its own connection.
package final class Server {
    let dispatcher: Dispatcher
    private let permission: () -> Permission
    private let loop: EventLoop
    private let path: String
    private var socket: StreamSocket
    private var readiness: Descriptor?
    private var retry: Timer?
    /// In the order in which they came.
    private var connections: [Connection] = []

    /// How many there are at a time. Then the oldest one on which nothing is asked makes room.
    private static let mostConnections = 64

    /// Listens at `path`. A socket at which nobody listens any more is replaced. `permission` is evaluated for each
    /// connection, because users and groups change while the daemon runs.
    package init(
        _ loop: EventLoop, path: String, _ dispatcher: Dispatcher,
        permission: @escaping () -> Permission
    ) throws {
        self.loop = loop
        self.dispatcher = dispatcher
        self.permission = permission
        self.path = path
        socket = try StreamSocket(path, listeningFor: permission().group)
        readiness = try readiness(of: socket)
        retry = try Timer(loop, accuracy: .milliseconds(100)) { [unowned self] in resume() }
    }

    /// Whether the socket is still at its path.
    package var isAtPath: Bool { socket.isAtPath }

    /// Listens at the path again if somebody has deleted the socket. Connections stay.
    package func listenAgain() throws {
        if isAtPath { return }
        let socket = try StreamSocket(path, listeningFor: permission().group)
        readiness = try readiness(of: socket)
        self.socket = socket
    }

    private func readiness(of socket: StreamSocket) throws -> Descriptor {
        try Descriptor(loop, socket.descriptor, .readable, priority: .low) { [unowned self] _ in
            accept()
        }
    }

    /// Whether a call waits for its reply.
    package var isWaitedFor: Bool { connections.contains(where: \.isWaiting) }

    /// Lets each waiting call be answered: files show what has happened.
    package func advance() { for connection in connections { connection.advance() } }

    /// Forgets a connection that has ended.
    func drop(_ connection: Connection) { connections.removeAll { $0 === connection } }

    // MARK: - Coming

    /// How many connections are accepted in a turn of the loop.
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
            guard let peer = Peer(of: descriptor), permission().mayAct(peer) else {
                refuse(descriptor)
                continue
            }
            if connections.count >= Self.mostConnections {
                connections.first { !$0.isWaiting }?.close()
            }
            guard connections.count < Self.mostConnections else {
                close(descriptor)
                continue
            }
            do {
                connections.append(
                    try Connection(loop, descriptor, peer: peer, server: self))
            } catch {
                return pause()
            }
        }
    }

    /// Tells a peer that it may do nothing, whatever it was about to ask.
    private func refuse(_ descriptor: Int32) {
        let message = Reply.failure(.notPermitted).message
        _ = unsafe send(
            descriptor, message, message.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        close(descriptor)
    }

    private func pause() {
        do { try readiness?.listen(for: []) } catch {}
        retry?.set(at: loop.now.boot + .seconds(1))
    }

    private func resume() {
        do { try readiness?.listen(for: .readable) } catch { pause() }
    }
}
