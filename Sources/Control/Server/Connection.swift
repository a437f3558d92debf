import EventLoop
import Faults
import Glibc

/// One client: reads its calls one after the other, and gives each its replies. At most one call is
/// being answered, one reply waits to be taken, and one message is half read; whoever sends more
/// waits.
final class Connection {
    let peer: Peer
    /// Whether it counts among those who may only read.
    let isReader: Bool
    /// What the client has not taken yet.
    private(set) var unsent: ArraySlice<UInt8> = []
    private let descriptor: Int32
    private unowned let server: Server
    private var readiness: Descriptor?
    private var next: Deferred?
    private var framing = Framing()
    /// The client sends no more.
    private var isEnded = false
    private var activity: Activity = .reading

    private enum Activity {
        /// No whole call is there yet.
        case reading
        /// What came may hold another call, which has its turn soon.
        case due
        case answering(Call, (Occasion) throws(MethodError) -> Progress)
    }

    /// Takes over an accepted socket, and closes it in the end.
    init(
        _ loop: EventLoop, _ descriptor: Int32, peer: Peer, isReader: Bool, server: Server
    ) throws(SystemError) {
        self.descriptor = descriptor
        self.peer = peer
        self.isReader = isReader
        self.server = server
        readiness = try Descriptor(loop, descriptor, .readable, owned: true) {
            [unowned self] events in
            react(to: events)
        }
        next = Deferred(loop) { [unowned self] in takeCall() }
    }

    /// Something happened after which the call may be answered.
    func advance(_ occasion: Occasion) {
        // One reply at a time: a slow client gets the newest instead of all.
        guard case .answering(let call, let advance) = activity, unsent.isEmpty else { return }
        do {
            switch try advance(occasion) {
            case .waiting: break
            case .more(let parameters): reply(.more(parameters), to: call)
            case .done(let parameters): reply(.last(parameters), to: call)
            }
        } catch {
            reply(.failure(error), to: call)
        }
    }

    private func react(to events: Descriptor.Events) {
        switch activity {
        case .reading where events.contains(.readable): receive()
        case .reading, .due, .answering:
            if events.contains(.writable) { flush() }
            // Both directions are closed: nobody is there to take an answer.
            if !events.isDisjoint(with: [.hangUp, .error]) { end() }
        }
    }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        switch count {
        case 1...:
            framing.append(buffer[..<count])
        case 0:
            isEnded = true
        default:
            guard errno == EAGAIN || errno == EINTR else { return end() }
            return
        }
        takeCall()
    }

    /// Begins the next call, if there is a whole one, and waits for what is to happen next.
    private func takeCall() {
        do {
            guard let message = try framing.next() else {
                activity = .reading
                return isEnded ? end() : listen()
            }
            begin(try Call(message))
        } catch {
            // Too long, or not Varlink at all: there is nothing that such a client would understand.
            end()
        }
    }

    private func begin(_ call: Call) {
        do {
            switch try server.dispatcher.perform(call, by: peer) {
            case .now(let parameters):
                reply(.last(parameters), to: call)
            case .later(let advance):
                activity = .answering(call, advance)
                listen()
                self.advance(.room)
            }
        } catch {
            reply(.failure(error), to: call)
        }
    }

    private func reply(_ reply: Reply, to call: Call) {
        if case .more = reply, call.replies == .many {} else { activity = .due }
        if call.replies != .none { unsent += reply.message }
        flush()
    }

    /// Sends what the client takes now; with nothing left, its next call has its turn.
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
            case .answering: advance(.room)
            }
        } else if !server.hasRoom {
            return end()
        }
        listen()
    }

    /// Waits for a call, for room to send, or for no more than the end of the connection.
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
