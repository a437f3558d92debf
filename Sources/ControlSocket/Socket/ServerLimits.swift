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
