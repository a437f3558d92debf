import CivilTime
package import EventLoop
import Glibc
package import POSIX

/// Writes entries to the journal, and never waits. What journald does not take at once is kept, and sent again, so that
/// the last word of the journal on a service is true. Beyond `limit` the oldest entries are dropped, and counted.
///
/// `sd_journal_sendv(3)` would wait, and stop the loop after some seventy entries.
package final class JournalSocket {
    private let socket: DatagramSocket
    private let address: SocketAddress
    private let identifier: String
    /// What journald has not taken yet, in its order.
    private var kept: ArraySlice<[UInt8]> = []
    private var keptBytes = 0
    private var dropped = 0
    private var loop: EventLoop?
    private var timer: Timer?
    private var isTimerSet = false
    private var wait = shortestWait

    package static let journald = SocketAddress.path("/run/systemd/journal/socket")

    /// How many bytes are kept: two entries of each of two thousand services.
    package static let limit = 4 << 20

    /// Throws if the process has no descriptor left. journalctl(1) shows the `identifier` before each line.
    package init(identifier: String, at address: SocketAddress = journald) throws(SystemError) {
        self.identifier = identifier
        self.address = address
        socket = try DatagramSocket()
    }

    /// From now on this loop sends again what is kept. Without it the next entry does.
    package func retry(on loop: EventLoop) throws(SystemError) {
        self.loop = loop
        timer = try Timer(loop, accuracy: .milliseconds(10)) { [unowned self] in
            isTimerSet = false
            wait = min(wait * 2, Self.longestWait)
            sendKept()
        }
        sendKept()
    }

    /// Writes an entry, or keeps it.
    package func write(_ entry: JournalEntry) {
        let datagram = entry.nativeForm(identifier: identifier)
        kept.append(datagram)
        keptBytes += datagram.count
        while keptBytes > Self.limit { drop() }
        sendKept()
    }

    /// Before the process ends: waits up to a second for the journal to take what is kept.
    package func finish() {
        for _ in 0..<50 where !kept.isEmpty || dropped > 0 {
            sendKept()
            usleep(20_000)
        }
    }

    private func sendKept() {
        do {
            if dropped > 0 { try send(lossReport) }
            dropped = 0
            while let oldest = kept.first {
                try send(oldest)
                forget()
                wait = Self.shortestWait
            }
            kept = []
        } catch {
            if error.isTooLarge, !kept.isEmpty {
                drop()
                return sendKept()
            }
            retryLater()
        }
    }

    private var lossReport: [UInt8] {
        let entries = dropped == 1 ? "entry was" : "entries were"
        let text = "\(dropped) \(entries) dropped that the journal did not take"
        return JournalEntry(.warning, text).nativeForm(identifier: identifier)
    }

    private func send(_ datagram: [UInt8]) throws(SystemError) {
        try socket.send(datagram, to: address)
    }

    private func drop() {
        forget()
        dropped += 1
    }

    private func forget() {
        keptBytes -= kept[kept.startIndex].count
        // A slice keeps the memory of what is removed.
        kept[kept.startIndex] = []
        kept.removeFirst()
    }

    private func retryLater() {
        guard let loop, !isTimerSet else { return }
        timer?.set(at: loop.now.boot + wait)
        isTimerSet = true
    }

    private static let shortestWait: Duration = .milliseconds(20)
    private static let longestWait: Duration = .seconds(5)
}

/// One journal entry: a sentence, its priority, and fields that programs can search for.
package struct JournalEntry: Hashable, Sendable {
    package var priority: Priority
    /// The sentence; it may have several lines.
    package var message: String
    /// 32 hexadecimal digits that name the kind of event, and its text in the message catalog.
    package var messageID: String?
    package var fields: [Field]

    package init(
        _ priority: Priority, _ message: String, messageID: String? = nil, fields: [Field] = []
    ) {
        self.priority = priority
        self.message = message
        self.messageID = messageID
        self.fields = fields
    }

    /// The most bytes of a value. The datagram of an entry, which has a dozen fields, stays far
    /// below the 208 KiB that a socket takes, so that no entry has to be passed as a file.
    package static let valueLimit = 8 << 10

    /// The entry in journald's native protocol (systemd's `docs/JOURNAL_NATIVE_PROTOCOL.md`).
    func nativeForm(identifier: String) -> [UInt8] {
        var all = [
            Field("MESSAGE", message), Field("PRIORITY", String(priority.rawValue)),
            Field("SYSLOG_IDENTIFIER", identifier),
        ]
        if let messageID { all.append(Field("MESSAGE_ID", messageID)) }
        return (all + fields).flatMap(\.nativeForm)
    }
}

extension Field {
    /// `KEY=value`; for a value with a newline the key, the length as eight bytes and the value.
    fileprivate var nativeForm: [UInt8] {
        let newline = UInt8(ascii: "\n")
        let bytes = Array(value.utf8)
        let value = bytes.count <= JournalEntry.valueLimit ? bytes : Self.cut(bytes)
        guard value.contains(newline) else {
            return Array(key.utf8) + [UInt8(ascii: "=")] + value + [newline]
        }
        let length = UInt64(value.count)
        let lengthBytes = (0..<8).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
        return Array(key.utf8) + [newline] + lengthBytes + value + [newline]
    }

    /// The beginning of a value that is too long, cut between characters.
    private static func cut(_ bytes: [UInt8]) -> [UInt8] {
        var end = JournalEntry.valueLimit
        while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(bytes[..<end])
    }
}

/// One field of a journal entry. A key has upper case letters, digits and underscores, and does not
/// begin with an underscore: such keys are journald's own (systemd.journal-fields(7)).
package struct Field: Hashable, Sendable {
    package let key: String
    package let value: String

    /// A field of this key. The value may hold line ends; a value that is too long is cut.
    package init(_ key: String, _ value: String) {
        self.key = key
        self.value = value
    }
}

/// The priority of an entry; the numbers are those of syslog(3).
package enum Priority: Int, Sendable {
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
    case debug = 7
}
