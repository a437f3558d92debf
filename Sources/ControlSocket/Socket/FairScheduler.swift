import CivilTime
import EventLoop
import POSIX

/// Gives the connections of one kind their turns on the loop: user by user, a piece of work at a time.
///
/// One source of the loop serves all connections, so that other events are handled between two pieces. A user
/// who has used up the share of one user waits; all users wait once they have used up their share together.
final class FairScheduler {
    /// How much of the loop's time the users may have.
    struct Share {
        /// The part of the time of one user, and of all of them together.
        var user = 0.25
        var all = 0.5
        /// What each user, and all of them together, may use before that counts.
        var burst: Duration = .milliseconds(250)
    }

    private let loop: EventLoop
    private let share: Share?
    private var turn: Deferred?
    private var pause: Timer?
    private var queues: [UInt32: Queue] = [:]
    /// The users who have connections in their queue, in the order of their turns.
    private var users: [UInt32] = []
    private var total = Debt()

    /// A user's connections that wait for a turn, and the time that the user owes.
    private struct Queue {
        var connections: [Connection] = []
        var debt = Debt()
    }

    /// Turns at this priority; without a `share` nobody ever waits for anything but the loop.
    init(_ loop: EventLoop, priority: EventLoop.Priority, share: Share?) throws(SystemError) {
        self.loop = loop
        self.share = share
        turn = Deferred(loop, priority: priority) { [unowned self] in runNext() }
        pause = try Timer(loop, accuracy: .milliseconds(10)) { [unowned self] in turn?.arm() }
    }

    /// Puts a connection at the end of its user's queue. It must not be in it.
    func add(_ connection: Connection) {
        let user = connection.peer.user
        if queues[user, default: Queue()].connections.isEmpty { users.append(user) }
        queues[user, default: Queue()].connections.append(connection)
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
            !queue.connections.isEmpty || !queue.debt.isPaid(at: now, share?.user ?? 1)
        }
    }

    /// Lets the next connection work for a moment.
    private func runNext() {
        let start = EventLoop.uptime
        guard let position = nextUser(at: start) else { return }
        let user = users.remove(at: position)
        guard let connection = queues[user]?.connections.removeFirst() else { return }
        if queues[user]?.connections.isEmpty == false { users.append(user) }
        let wantsMore = connection.work()
        if let share {
            let spent = EventLoop.uptime - start
            queues[user]?.debt.add(spent, at: start, share.user)
            total.add(spent, at: start, share.all)
        }
        if wantsMore { add(connection) }
        if !users.isEmpty { turn?.arm() }
    }

    /// The position of the first user who may have a turn; nil, and a timer is set, if all have to wait.
    private func nextUser(at now: Uptime) -> Int? {
        guard let share, !users.isEmpty else { return users.isEmpty ? nil : 0 }
        let common = total.wait(at: now, share.all, share.burst)
        var shortest = Duration.seconds(3600)
        for (position, user) in users.enumerated() {
            let own = queues[user]?.debt.wait(at: now, share.user, share.burst) ?? .zero
            let wait = max(common, own)
            if wait <= .zero { return position }
            shortest = min(shortest, wait)
        }
        pause?.set(at: loop.now.boot + shortest)
        return nil
    }
}

/// Time that was used and is paid back at a share of the time that passes.
private struct Debt {
    private var owed: Duration = .zero
    private var at = Uptime(microseconds: 0)

    mutating func add(_ spent: Duration, at now: Uptime, _ share: Double) {
        owed = remaining(at: now, share) + spent
        at = now
    }

    /// How long until less than `burst` is owed.
    func wait(at now: Uptime, _ share: Double, _ burst: Duration) -> Duration {
        let excess = remaining(at: now, share) - burst
        return excess <= .zero ? .zero : excess / share
    }

    func isPaid(at now: Uptime, _ share: Double) -> Bool { remaining(at: now, share) <= .zero }

    private func remaining(at now: Uptime, _ share: Double) -> Duration {
        max(.zero, owed - (now - at) * share)
    }
}
