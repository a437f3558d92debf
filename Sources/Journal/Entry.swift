/// One journal entry: a sentence, how much it matters, and facts that programs can search for.
package struct Entry: Hashable, Sendable {
    package var priority: Priority
    package var message: String
    /// 32 hexadecimal digits that name the kind of event; the message catalog is found by it.
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
}

extension Entry {
    /// The most bytes of a value. With the dozen fields that an entry has, a datagram stays well
    /// under the 208 KiB that a socket takes, so no entry needs a file to travel in.
    package static let valueLimit = 8 << 10

    /// The entry as journald takes it, in its native protocol (systemd's
    /// `docs/JOURNAL_NATIVE_PROTOCOL.md`).
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
    /// `KEY=value`, or the key, the length as eight bytes and the value where that holds a newline.
    fileprivate var nativeForm: [UInt8] {
        let newline = UInt8(ascii: "\n")
        let bytes = Array(value.utf8)
        let value = bytes.count <= Entry.valueLimit ? bytes : Self.cut(bytes)
        guard value.contains(newline) else {
            return Array(key.utf8) + [UInt8(ascii: "=")] + value + [newline]
        }
        let length = UInt64(value.count)
        let lengthBytes = (0..<8).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
        return Array(key.utf8) + [newline] + lengthBytes + value + [newline]
    }

    /// The first part within the limit, which ends between characters.
    private static func cut(_ bytes: [UInt8]) -> [UInt8] {
        var end = Entry.valueLimit
        while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(bytes[..<end])
    }
}
