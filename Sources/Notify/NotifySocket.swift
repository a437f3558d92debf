package import Datagrams

/// The way to the service manager. Nothing of it waits.
package final class NotifySocket {
    private let socket: DatagramSocket
    private let address: SocketAddress

    /// Throws where the process has no descriptor left.
    package init(_ address: SocketAddress) throws(DatagramError) {
        self.address = address
        socket = try DatagramSocket()
    }

    /// Sends these words in one datagram: the service manager takes them together or not at all.
    package func send(_ messages: [Message]) throws(DatagramError) {
        guard !messages.isEmpty else { return }
        let text = messages.map(\.text).joined(separator: "\n")
        try socket.send(Array(text.utf8), to: address)
    }
}
