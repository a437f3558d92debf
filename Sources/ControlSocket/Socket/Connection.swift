import EventLoop
import Glibc
import POSIX

/// The connection of one client: reads its calls one after the other, and sends each its reply.
///
/// At most one call is being answered, one reply waits to be sent, and one message is half read. Further calls stay in
/// the kernel's buffer.
final class Connection {
    private var peer: Peer
    private let descriptor: Int32
    private unowned let server: Server
    private var readiness: Descriptor?
    private var framing = Framing()
    private var isFinished = false
    private var activity: Activity = .reading

    /// What is done about the calls of the client.
    private enum Activity {
        /// No complete call has arrived. Goes on to `answering` or `sending`.
        case reading
        /// A call waits for its reply. Goes on to `sending`.
        case answering(MethodCall.Replies, MethodResponse.Advance)
        /// These bytes of a reply are still to be sent. Goes on to `reading`.
        case sending(ArraySlice<UInt8>)
        /// The connection is closed, and nothing leads away from that.
        case ended
    }

    /// Owns an accepted socket, and closes it in the end.
    init(
        _ loop: EventLoop, _ descriptor: Int32, peer: Peer, server: Server
    ) throws(SystemError) {
        self.descriptor = descriptor
        self.peer = peer
        self.server = server
        readiness = try Descriptor(
            loop, descriptor, .readable, owned: true, priority: .low
        ) { [unowned self] events in work(events) }
    }

    /// Whether a call waits for its reply.
    var isWaiting: Bool { if case .answering = activity { true } else { false } }

    /// Gives a call that waits a chance to be answered.
    func advance() {
        guard isWaiting else { return }
        answer()
        goOn()
    }

    func close() {
        if case .ended = activity { return }
        activity = .ended
        readiness = nil
        server.drop(self)
    }

    private func work(_ events: Descriptor.Events) {
        switch activity {
        case .reading: receive()
        // Both directions are closed: nobody can receive a reply.
        case .answering: if !events.isDisjoint(with: [.hangUp, .error]) { return close() }
        case .sending(let bytes): send(bytes)
        case .ended: return
        }
        goOn()
    }

    /// Performs the calls that have come, until one has to wait, and listens for what comes next.
    private func goOn() {
        do {
            while case .reading = activity, let message = try framing.next() {
                perform(try MethodCall(message))
            }
        } catch {
            // Too long, or not Varlink: the client would not understand a reply.
            return close()
        }
        let events: Descriptor.Events
        switch activity {
        case .reading:
            if isFinished { return close() }
            events = .readable
        case .answering: events = .hangUp
        case .sending: events = .writable
        case .ended: return
        }
        do { try readiness?.listen(for: events) } catch { close() }
    }

    /// Receives what has come, at most a piece of it.
    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        let (count, passed) = PassedDescriptor.receive(&buffer, from: descriptor)
        if let passed {
            peer.login = LoginUser.read(passed, of: peer, at: descriptor)
            Glibc.close(passed)
        }
        switch count {
        case 1...: framing.append(buffer[..<count])
        case 0: isFinished = true
        default: if errno != EAGAIN && errno != EINTR { close() }
        }
    }

    private func perform(_ call: MethodCall) {
        do {
            switch try server.dispatcher.perform(call, by: peer) {
            case .now(let parameters): reply(.last(parameters), call.replies)
            case .later(let advance):
                activity = .answering(call.replies, advance)
                answer()
            }
        } catch {
            reply(.failure(error), call.replies)
        }
    }

    /// Answers the call that waits, if its effect is there.
    private func answer() {
        guard case .answering(let replies, let advance) = activity else { return }
        do {
            guard let parameters = try advance() else { return }
            reply(.last(parameters), replies)
        } catch {
            reply(.failure(error), replies)
        }
    }

    private func reply(_ reply: Reply, _ replies: MethodCall.Replies) {
        activity = .reading
        if replies != .none { send(reply.message[...]) }
    }

    /// Sends as much as the kernel takes.
    private func send(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(
                    descriptor, bytes.baseAddress, bytes.count,
                    Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                activity = .sending(rest)
                return
            } else if errno != EINTR {
                return close()
            }
        }
        activity = .reading
    }
}
