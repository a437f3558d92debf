import EventLoop
import Glibc
import POSIX

/// The connection of one client: reads its calls one after the other, and sends each its replies.
///
/// At most one call is being answered, one piece of a reply waits to be sent, and one message is half read.
/// Further calls stay in the kernel's buffer. Whatever it does is one piece of work in a turn of `FairScheduler`.
final class Connection {
    private(set) var peer: Peer
    /// Whether it takes a place for clients that may only read.
    let isReadOnly: Bool
    /// When the client last did its part: called a method, or took bytes of a reply.
    private(set) var active = EventLoop.uptime
    private let descriptor: Int32
    private unowned let server: Server
    private let turns: FairScheduler
    private var readiness: Descriptor?
    private var framing = Framing()
    /// Bytes of a reply that the kernel did not take yet.
    private var unsent: ArraySlice<UInt8> = []
    /// The bytes of the call that is being answered. What the answer keeps, such as names, comes from them.
    private var callSize = 0
    private var isFinished = false
    private var isQueued = false
    private var activity: Activity = .reading

    /// What is done about the calls of the client.
    private enum Activity {
        /// No complete call has arrived. Goes on to `answering` or `sending`.
        case reading
        /// A call waits for its reply. Goes on to `sending`. One that `seesAll` is told of each trigger.
        case answering(MethodCall.Replies, MethodResponse.Advance, seesAll: Bool)
        /// A reply is made and sent. Goes on to the activity after it: `reading`, or `answering` in a stream.
        indirect case sending(ReplyMessage, then: Activity)
        /// The connection is closed, and nothing leads away from that.
        case ended
    }

    /// Owns an accepted socket, and closes it in the end.
    init(
        _ loop: EventLoop, _ descriptor: Int32, peer: Peer, isReader: Bool, turns: FairScheduler,
        server: Server
    ) throws(SystemError) {
        self.descriptor = descriptor
        self.peer = peer
        self.isReadOnly = isReader
        self.turns = turns
        self.server = server
        readiness = try Descriptor(
            loop, descriptor, .readable, owned: true, priority: isReader ? .idle : .low
        ) { [unowned self] events in
            // Both directions are closed: nobody can receive a reply.
            if events.isDisjoint(with: [.hangUp, .error]) { queue() } else { hungUp(events) }
        }
    }

    /// The bytes that it keeps for its client: of calls, also of the call in progress, and of a reply.
    var held: Int { unsent.count + framing.count + callSize }

    /// Whether the client has to act next: finish its call, or take its reply.
    var waitsForClient: Bool {
        if isQueued { return false }
        return switch activity {
        case .reading: true
        case .answering, .ended: false
        case .sending: !unsent.isEmpty
        }
    }

    /// Gives a call that follows each trigger a chance to be answered.
    func advance(_ trigger: ReplyTrigger) {
        guard case .answering(_, _, seesAll: true) = activity else { return }
        answer(trigger)
        if case .answering = activity {} else { queue() }
    }

    /// Gives a call that waits for news a turn.
    func statusChanged() {
        if case .answering(_, _, seesAll: false) = activity { queue() }
    }

    /// Does a piece of work; returns whether there is another one.
    func work() -> Bool {
        isQueued = false
        if case .reading = activity { callSize = 0 }
        switch activity {
        case .ended: return false
        case .reading: read()
        case .answering: answer(.writable)
        case .sending(let message, let next): send(message, then: next)
        }
        let goesOn = wantsTurn
        isQueued = goesOn
        listen()
        server.trim(keeping: self)
        if case .ended = activity { return false }
        return goesOn
    }

    func close() {
        if case .ended = activity { return }
        activity = .ended
        if isQueued { turns.remove(self) }
        readiness = nil
        unsent = []
        framing = Framing()
        server.drop(self)
    }

    private func hungUp(_ events: Descriptor.Events) {
        // What came before the hang-up is read, and finds the end then.
        if case .reading = activity, events.contains(.readable) { queue() } else { close() }
    }

    /// Waits for a turn, and for nothing else meanwhile.
    private func queue() {
        guard !isQueued else { return }
        isQueued = true
        listen()
        turns.add(self)
    }

    /// Whether there is work that does not depend on the client.
    private var wantsTurn: Bool {
        switch activity {
        case .reading: framing.hasMessage
        case .answering, .ended: false
        case .sending: unsent.isEmpty
        }
    }

    /// Receives, and takes the next call if it is complete.
    private func read() {
        do {
            if !framing.hasMessage { try receive() }
            if let message = try framing.next() {
                active = EventLoop.uptime
                callSize = message.count
                perform(try MethodCall(message))
            } else if isFinished {
                close()
            }
        } catch {
            // Too long, or not Varlink: the client would not understand a reply.
            close()
        }
    }

    /// Receives what has come, at most a piece of it.
    private func receive() throws(SystemError) {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        let (count, passed) = PassedDescriptor.receive(&buffer, from: descriptor)
        if let passed {
            // A reader records nothing. So a client that passes a file of a slow file system cannot delay the loop.
            if !isReadOnly { peer.login = LoginUser.read(passed, of: peer, at: descriptor) }
            Glibc.close(passed)
        }
        switch count {
        case 1...: framing.append(buffer[..<count])
        case 0: isFinished = true
        default:
            guard errno == EAGAIN || errno == EINTR else {
                throw SystemError("receive", code: errno)
            }
        }
    }

    private func perform(_ call: MethodCall) {
        do {
            switch try server.dispatcher.perform(call, by: peer) {
            case .now(let answer): reply(ReplyMessage(answer, continues: false), call.replies)
            case .later(let advance): activity = .answering(call.replies, advance, seesAll: true)
            case .onChange(let advance):
                activity = .answering(call.replies, advance, seesAll: false)
            }
            answer(.writable)
        } catch {
            reply(ReplyMessage(error), call.replies)
        }
    }

    /// Lets the call that waits be answered, if one does.
    private func answer(_ trigger: ReplyTrigger) {
        guard case .answering(let replies, let advance, _) = activity else { return }
        do {
            guard let answer = try advance(trigger) else { return }
            let goesOn = answer.continues && replies == .many
            reply(
                ReplyMessage(answer, continues: goesOn), replies,
                then: goesOn ? activity : .reading)
        } catch {
            reply(ReplyMessage(error), replies)
        }
    }

    private func reply(
        _ message: ReplyMessage, _ replies: MethodCall.Replies, then next: Activity = .reading
    ) {
        activity = replies == .none ? next : .sending(message, then: next)
    }

    /// How many bytes of a reply are made at a time.
    private static let piece = 32 << 10

    /// Sends what waits, or makes the next piece of the reply and sends that.
    private func send(_ message: ReplyMessage, then next: Activity) {
        var message = message
        if unsent.isEmpty { unsent = message.next(Self.piece)[...] }
        activity = .sending(message, then: next)
        while !unsent.isEmpty {
            let count = unsafe unsent.withUnsafeBytes { bytes in
                unsafe Glibc.send(
                    descriptor, bytes.baseAddress, bytes.count,
                    Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                active = EventLoop.uptime
                unsent = unsent.dropFirst(count)
            } else if errno != EINTR {
                if errno != EAGAIN { close() }
                return
            }
        }
        unsent = []
        guard message.isComplete else { return }
        activity = next
        // In a stream: what has changed while the client took this reply.
        answer(.writable)
    }

    /// Waits for a call, for room to send, or for the end of the connection.
    private func listen() {
        guard let readiness else { return }
        let events: Descriptor.Events =
            switch activity {
            case _ where isQueued: []
            case _ where !unsent.isEmpty: .writable
            case .reading: .readable
            case .answering, .sending, .ended: .hangUp
            }
        do {
            try readiness.listen(for: events)
        } catch {
            close()
        }
    }
}
