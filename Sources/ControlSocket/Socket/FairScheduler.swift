import CivilTime
import EventLoop
import POSIX

/// Gives the connections of one kind their turns on the loop: user by user, a piece of work at a time.
///
/// One source of the loop serves all connections, so that other events are handled between two pieces. A user
/// who has used up the share of one user waits; all users wait once they have used up their share together.
final class FairScheduler {
    private let loop: EventLoop
    /// The part of the loop's time that one user may have.
    private let share: Double
    private var turn: Deferred?
    private var pause: Timer?
    private var queues: [UInt32: Queue] = [:]
    /// The users who have connections in their queue, in the order of their turns.
    private var users: [UInt32] = []
    private var total: Debt

    /// A user's connections that wait for a turn, and the time that the user owes.
    private typealias Queue = (connections: [Connection], debt: Debt)

    /// Turns at this priority, in these parts of the time: of one user, and of all together.
    init(
        _ loop: EventLoop, priority: EventLoop.Priority, ofUser share: Double, ofAll all: Double
    ) throws(SystemError) {
        self.loop = loop
        self.share = share
        total = Debt(share: all)
        turn = Deferred(loop, priority: priority) { [unowned self] in runNext() }
        pause = try Timer(loop, accuracy: .milliseconds(10)) { [unowned self] in turn?.arm() }
    }

    /// Puts a connection at the end of its user's queue. It must not be in it.
    func add(_ connection: Connection) {
        let user = connection.peer.user
        var queue = queues[user] ?? ([], Debt(share: share))
        if queue.connections.isEmpty { users.append(user) }
        queue.connections.append(connection)
        queues[user] = queue
        turn?.arm()
    }

    /// Takes a connection that has ended out of its queue.
    func remove(_ connection: Connection) {
        let user = connection.peer.user
        queues[user]?.connections.removeAll { $0 === connection }
        if queues[user]?.connections.isEmpty == true { users.removeAll { $0 == user } }
    }

    /// Forgets the users who wait for nothing and owe nothing.
    func tidy() {
        let now = EventLoop.uptime
        queues = queues.filter { _, queue in
            !queue.connections.isEmpty || queue.debt.remaining(at: now) > .zero
        }
    }

    private func runNext() {
        let start = EventLoop.uptime
        guard let position = nextUser(at: start) else { return }
        let user = users.remove(at: position)
        guard let connection = queues[user]?.connections.removeFirst() else { return }
        if queues[user]?.connections.isEmpty == false { users.append(user) }
        let wantsMore = connection.work()
        let spent = EventLoop.uptime - start
        queues[user]?.debt.add(spent, at: start)
        total.add(spent, at: start)
        if wantsMore { add(connection) }
        if !users.isEmpty { turn?.arm() }
    }

    /// The position of the first user who may have a turn; nil, and a timer is set, if all have to wait.
    private func nextUser(at now: Uptime) -> Int? {
        let waits = users.map { max(total.wait(at: now), queues[$0]?.debt.wait(at: now) ?? .zero) }
        guard let shortest = waits.min() else { return nil }
        if shortest <= .zero { return waits.firstIndex(of: shortest) }
        pause?.set(at: loop.now.boot + shortest)
        return nil
    }
}

/// Time that was used and is paid back at a share of the time that passes.
private struct Debt {
    let share: Double
    private var owed: Duration = .zero
    private var at = Uptime(microseconds: 0)

    init(share: Double) { self.share = share }

    mutating func add(_ spent: Duration, at now: Uptime) {
        owed = remaining(at: now) + spent
        at = now
    }

    /// How long until no more is owed than may be used before it counts.
    func wait(at now: Uptime) -> Duration {
        max(.zero, remaining(at: now) - .milliseconds(250)) / share
    }

    func remaining(at now: Uptime) -> Duration { max(.zero, owed - (now - at) * share) }
}
