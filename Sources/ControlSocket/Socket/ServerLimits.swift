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
    /// The share of the loop's time of clients that may only read.
    var time = FairScheduler.Share()

    /// The limits of the daemon.
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

/// How many connections each user has.
struct Places {
    private var counts: [UInt32: Int] = [:]
    /// Of all users.
    private(set) var total = 0

    /// How many connections the user has.
    func of(_ user: UInt32) -> Int { counts[user] ?? 0 }

    /// The user with the most connections; nil without any.
    var largest: UInt32? { counts.max { $0.value < $1.value }?.key }

    /// A connection of the user has come.
    mutating func enter(_ user: UInt32) {
        counts[user, default: 0] += 1
        total += 1
    }

    /// A connection of the user has ended.
    mutating func leave(_ user: UInt32) {
        guard let count = counts[user] else { return }
        counts[user] = count > 1 ? count - 1 : nil
        total -= 1
    }
}

/// How many bytes are kept for the clients of each user.
struct BufferUsage {
    private var counted: [ObjectIdentifier: (user: UInt32, count: Int)] = [:]
    private var counts: [UInt32: Int] = [:]
    /// Of all users.
    private(set) var total = 0

    /// How many bytes are kept for the user.
    func count(of user: UInt32) -> Int { counts[user] ?? 0 }

    /// The user for whom the most bytes are kept; nil without any.
    var greediest: UInt32? { counts.max { $0.value < $1.value }?.key }

    /// Takes note of what a connection keeps now.
    mutating func update(_ connection: Connection) {
        forget(connection)
        let (user, count) = (connection.peer.user, connection.held)
        guard count > 0 else { return }
        counted[ObjectIdentifier(connection)] = (user, count)
        counts[user, default: 0] += count
        total += count
    }

    /// A connection has ended.
    mutating func forget(_ connection: Connection) {
        guard let (user, count) = counted.removeValue(forKey: ObjectIdentifier(connection)) else {
            return
        }
        total -= count
        let rest = (counts[user] ?? 0) - count
        counts[user] = rest > 0 ? rest : nil
    }
}
