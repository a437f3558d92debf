import CivilTime
package import EventLoop
import Glibc

/// The control socket: listens, and lets each client have its calls answered.
///
/// Nothing here waits. A client that is slow, silent, huge or malformed costs its own connection and
/// what `Limits` allows.
package final class Server {
    let dispatcher: Dispatcher
    private let loop: EventLoop
    private let limits: Limits
    private let socket: StreamSocket
    private var readiness: Descriptor?
    private var retry: Timer?
    private var connections: [ObjectIdentifier: Connection] = [:]

    /// Listens at `path`. What is there already is replaced when nobody listens at it any more.
    package init(
        _ loop: EventLoop, path: String, _ dispatcher: Dispatcher, limits: Limits = Limits()
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

    /// Something happened after which calls that wait may be answered.
    package func advance(_ occasion: Occasion) {
        for connection in connections.values { connection.advance(occasion) }
    }

    /// Whether what clients have not taken yet is little enough.
    var hasRoom: Bool {
        connections.values.reduce(0) { $0 + $1.unsent.count } <= limits.unsent
    }

    /// Lets go of a connection that has ended.
    func drop(_ connection: Connection) {
        connections[ObjectIdentifier(connection)] = nil
    }

    private func accept() {
        let descriptor = Glibc.accept(socket.descriptor, nil, nil)
        guard descriptor >= 0 else {
            // Without a descriptor to spare the client waits, and would wake the loop again and again.
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

    /// Whether the peer would take one of the places of those who only read; nil where there is none.
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

    private func tryLater() {
        retry?.set(at: loop.now.boot + .seconds(1))
    }
}
