import EventLoop
import Faults
import Glibc

/// The connection of one client: reads its calls one after the other, and sends each its replies.
///
/// At most one call is being answered, one reply waits to be sent, and one message is half read. Further
/// calls stay in the kernel's buffer.
final class Connection {
    let peer: Peer
    /// Whether it takes a place for clients that may only read.
    let isReader: Bool
    /// Bytes of replies that the kernel did not take yet.
    private(set) var unsent: ArraySlice<UInt8> = []
    private let descriptor: Int32
    private unowned let server: Server
    private var readiness: Descriptor?
    private var next: Deferred?
    private var framing = Framing()
    /// Whether the client has closed its sending side.
    private var isEnded = false
    private var activity: Activity = .reading

    private enum Activity {
        /// No complete call has arrived.
        case reading
        /// A reply was made; the buffer may hold another call.
        case due
        /// A call waits for its reply.
        case answering(MethodCall, (ReplyTrigger) throws(MethodError) -> Reply?)
    }

    /// Owns an accepted socket, and closes it in the end.
    init(
        _ loop: EventLoop, _ descriptor: Int32, peer: Peer, isReader: Bool, server: Server
    ) throws(SystemError) {
        self.descriptor = descriptor
        self.peer = peer
        self.isReader = isReader
        self.server = server
        readiness = try Descriptor(loop, descriptor, .readable, owned: true) { [unowned self] in
            react(to: $0)
        }
        next = Deferred(loop) { [unowned self] in takeCall() }
    }

    /// Gives a waiting call a chance to be answered.
    func advance(_ trigger: ReplyTrigger) {
        // One reply at a time: a slow client gets the newest state, not every one.
        guard case .answering(let call, let advance) = activity, unsent.isEmpty else { return }
        do {
            if let reply = try advance(trigger) { self.reply(reply, to: call) }
        } catch {
            reply(.failure(error), to: call)
        }
    }

    private func react(to events: Descriptor.Events) {
        switch activity {
        case .reading where events.contains(.readable): receive()
        case .reading, .due, .answering:
            if events.contains(.writable) { flush() }
            // Both directions are closed: nobody can receive a reply.
            if !events.isDisjoint(with: [.hangUp, .error]) { end() }
        }
    }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count < 0 {
            if errno != EAGAIN, errno != EINTR { end() }
            return
        }
        isEnded = count == 0
        framing.append(buffer[..<count])
        takeCall()
    }

    /// Begins the next call if a complete one has arrived, then waits for the next event.
    private func takeCall() {
        do {
            guard let message = try framing.next() else {
                activity = .reading
                return isEnded ? end() : listen()
            }
            begin(try MethodCall(message))
        } catch {
            // Too long, or not Varlink: the client would not understand a reply.
            end()
        }
    }

    private func begin(_ call: MethodCall) {
        do {
            switch try server.dispatcher.perform(call, by: peer) {
            case .now(let parameters): reply(.last(parameters), to: call)
            case .later(let advance):
                activity = .answering(call, advance)
                listen()
                self.advance(.writable)
            }
        } catch {
            reply(.failure(error), to: call)
        }
    }

    private func reply(_ reply: Reply, to call: MethodCall) {
        if case .more = reply, call.replies == .many {} else { activity = .due }
        if call.replies != .none { unsent += reply.message }
        flush()
    }

    /// Sends as much as the kernel takes now. Once everything is sent, the next call has its turn.
    private func flush() {
        while !unsent.isEmpty {
            let count = unsafe unsent.withUnsafeBytes { bytes in
                unsafe send(
                    descriptor, bytes.baseAddress, bytes.count,
                    Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                unsent = unsent.dropFirst(count)
            } else if errno != EINTR {
                guard errno == EAGAIN else { return end() }
                break
            }
        }
        if unsent.isEmpty {
            unsent = []
            switch activity {
            case .reading: break
            case .due: next?.arm()
            case .answering: advance(.writable)
            }
        } else if !server.hasRoom {
            return end()
        }
        listen()
    }

    /// Waits for a call, for room to send, or for the end of the connection.
    private func listen() {
        guard let readiness else { return }
        let events: Descriptor.Events =
            switch activity {
            case _ where !unsent.isEmpty: .writable
            case .reading: .readable
            case .due, .answering: .hangUp
            }
        do {
            try readiness.listen(for: events)
        } catch {
            end()
        }
    }

    private func end() {
        activity = .reading
        readiness = nil
        next = nil
        server.drop(self)
    }
}
