import Glibc
import POSIX
import Support
import Testing

/// A daemon whose service manager is the test.
final class WatchedDaemon {
    let daemon: Daemon
    private let listener: DatagramListener

    init(_ configuration: String = Daemon.shop, flags: String? = #"{"service_end": "no"}"#) throws {
        daemon = try Daemon(configuration, flags: flags)
        listener = try DatagramListener(.path(daemon.folder("notify")))
    }

    func start(_ more: [String: String] = [:]) throws {
        try daemon.start(more.merging(["NOTIFY_SOCKET": daemon.folder("notify")]) { own, _ in own })
    }

    /// A daemon that was started and is ready.
    static func ready() throws -> WatchedDaemon {
        let watched = try WatchedDaemon()
        try watched.start()
        try watched.waitUntilReady()
        return watched
    }

    /// Has the daemon read its configuration by SIGHUP; expects its first message about that.
    func reload() throws {
        daemon.program?.send(SIGHUP)
        #expect(try next() == "RELOADING=1\nMONOTONIC_USEC=·")
    }

    /// Fills the notify socket, so that it takes no message until the test reads.
    func deafen() throws {
        let socket = try DatagramSocket()
        let address = SocketAddress.path(daemon.folder("notify"))
        do {
            while true { try socket.send(Array("noise".utf8), to: address) }
        } catch {
            guard error.isReceiverFull else { throw error }
        }
    }

    /// The next message. Ages and waits are shown as a dot.
    func next() throws -> String {
        guard let text = try listener.next() else {
            throw TestFailure("no further message came; log:\n\(try daemon.log)")
        }
        return text.replacing(/\d+ (s|min)\b/, with: "·")
            .replacing(/MONOTONIC_USEC=\d+/, with: "MONOTONIC_USEC=·")
            .replacing(daemon.folder.path, with: "")
    }

    /// The next unread message, as sent; nil if none comes within this time.
    func next(within milliseconds: Int32) throws -> String? {
        try listener.next(within: milliseconds)
    }

    func waitUntilReady() throws { while try !next().split(separator: "\n").contains("READY=1") {} }
}
