package import Datagrams

/// The way into the journal. `sd_journal_sendv(3)` waits when journald takes nothing, which would
/// stop the loop after some seventy entries; here such an entry is dropped, and counted.
package final class JournalSocket {
    private let socket: DatagramSocket
    private let address: SocketAddress
    private let identifier: String
    private var dropped = 0

    /// Where journald listens.
    package static let journald = SocketAddress.path("/run/systemd/journal/socket")

    /// `identifier` is the name of the program, as it stands before each line of journalctl(1).
    package init(
        identifier: String, at address: SocketAddress = journald
    ) throws(DatagramError) {
        self.identifier = identifier
        self.address = address
        socket = try DatagramSocket()
    }

    /// Writes an entry, or drops it.
    package func write(_ entry: Entry) {
        catchUp()
        if !send(entry) { dropped += 1 }
    }

    /// Says how many entries were dropped, if the journal takes any again. Cheap where none was.
    package func catchUp() {
        guard dropped > 0 else { return }
        let entries = dropped == 1 ? "entry was" : "entries were"
        let text = "\(dropped) \(entries) dropped, for the journal took none"
        if send(Entry(.warning, text)) { dropped = 0 }
    }

    private func send(_ entry: Entry) -> Bool {
        do {
            try socket.send(entry.nativeForm(identifier: identifier), to: address)
            return true
        } catch {
            // There is no better place to say this; the count is said when the journal is back.
            return false
        }
    }
}
