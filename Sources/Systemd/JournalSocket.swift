package import POSIX

/// Writes entries to the journal, and never waits. `sd_journal_sendv(3)` waits while journald takes
/// nothing, which would stop the loop after some seventy entries; here such an entry is dropped,
/// and counted.
package final class JournalSocket {
    private let socket: DatagramSocket
    private let address: SocketAddress
    private let identifier: String
    private var dropped = 0

    /// The address of journald's socket.
    package static let journald = SocketAddress.path("/run/systemd/journal/socket")

    /// `identifier` is the name of the program, which journalctl(1) shows before each line. Throws
    /// if the process has no descriptor left.
    package init(identifier: String, at address: SocketAddress = journald) throws(SystemError) {
        self.identifier = identifier
        self.address = address
        socket = try DatagramSocket()
    }

    /// Writes an entry, or drops it.
    package func write(_ entry: JournalEntry) {
        reportLosses()
        if !send(entry) { dropped += 1 }
    }

    /// Writes how many entries were dropped, if the journal takes entries again. Does nothing if
    /// none was dropped.
    package func reportLosses() {
        guard dropped > 0 else { return }
        let entries = dropped == 1 ? "entry was" : "entries were"
        let text = "\(dropped) \(entries) dropped, for the journal took none"
        if send(JournalEntry(.warning, text)) { dropped = 0 }
    }

    private func send(_ entry: JournalEntry) -> Bool {
        do {
            try socket.send(entry.nativeForm(identifier: identifier), to: address)
            return true
        } catch {
            // The count is written once the journal takes entries again.
            return false
        }
    }
}
