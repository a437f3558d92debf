import Datagrams
import Faults
import Support

/// A daemon that a service manager listens to: the test.
final class WatchedDaemon {
    let daemon: Daemon
    private let listener: DatagramListener

    init(
        _ configuration: String = Daemon.shop, flags: String? = #"{"service_end": "no"}"#
    ) throws {
        daemon = try Daemon(configuration, flags: flags)
        listener = try DatagramListener(.path(daemon.folder("notify")))
    }

    func start(_ more: [String: String] = [:]) throws {
        try daemon.start(more.merging(["NOTIFY_SOCKET": daemon.folder("notify")]) { own, _ in own })
    }

    /// Fills the service manager's ear, so that it takes nothing more until it listens.
    func deafen() throws {
        let socket = try DatagramSocket()
        let address = SocketAddress.path(daemon.folder("notify"))
        do {
            while true { try socket.send(Array("noise".utf8), to: address) }
        } catch {
            guard error.isReceiverFull else { throw error }
        }
    }

    /// What it says next. What passes by itself, ages and waits, is shown as a dot.
    func next() throws -> String {
        guard let text = try listener.next() else {
            throw TestFailure("nothing more was said; log:\n\(try daemon.log)")
        }
        return text.replacing(/\d+ (s|min)\b/, with: "·")
            .replacing(/MONOTONIC_USEC=\d+/, with: "MONOTONIC_USEC=·")
            .replacing(daemon.folder.path, with: "")
    }

    /// What it has said that was not asked for yet, or says in this time; nil where it is nothing.
    func next(within milliseconds: Int32) throws -> String? {
        try listener.next(within: milliseconds)
    }

    /// Waits until it says that it is ready.
    func waitUntilReady() throws {
        while try !next().split(separator: "\n").contains("READY=1") {}
    }
}
