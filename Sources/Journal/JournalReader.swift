import CSystemd

/// Reads entries back from the journal's files, sd-journal(3), the oldest first.
@safe
package final class JournalReader {
    private let pointer: OpaquePointer

    /// Opens the journal of this host, as far as we may read it; or the files in a directory.
    package init(directory: String? = nil) throws(JournalError) {
        var opened: OpaquePointer?
        let call = directory.map { "open the journal in '\($0)'" } ?? "open the journal"
        let result =
            if let directory {
                unsafe sd_journal_open_directory(&opened, directory, 0)
            } else {
                unsafe sd_journal_open(&opened, Int32(SD_JOURNAL_LOCAL_ONLY))
            }
        try check(call, result)
        guard let pointer = unsafe opened else { throw JournalError(call: call, code: 0) }
        unsafe self.pointer = pointer
    }

    deinit { unsafe sd_journal_close(pointer) }

    /// Gives those entries only that have one of these values in the field, for each field that is
    /// asked about.
    package func match(_ field: String, _ values: [String]) throws(JournalError) {
        for value in values {
            let match = Array("\(field)=\(value)".utf8)
            try check(
                "search the journal", unsafe sd_journal_add_match(pointer, match, match.count))
        }
    }

    /// Goes to the first entry at or after this time, in microseconds since 1970; to the first of all
    /// without one.
    package func seek(_ time: Int64?) throws(JournalError) {
        let result =
            if let time {
                unsafe sd_journal_seek_realtime_usec(pointer, UInt64(max(time, 0)))
            } else {
                unsafe sd_journal_seek_head(pointer)
            }
        try check("search the journal", result)
    }

    /// The next entry; nil after the last.
    package func next() throws(JournalError) -> JournalRecord? {
        guard try check("read the journal", unsafe sd_journal_next(pointer)) > 0 else { return nil }
        var time: UInt64 = 0
        try check("read the journal", unsafe sd_journal_get_realtime_usec(pointer, &time))
        return JournalRecord(time: Int64(clamping: time), values: try fields())
    }

    /// Every field of the present entry, with its values in their order.
    private func fields() throws(JournalError) -> [String: [String]] {
        var fields: [String: [String]] = [:]
        unsafe sd_journal_restart_data(pointer)
        while true {
            var data: UnsafeRawPointer?
            var length = 0
            let result = unsafe sd_journal_enumerate_available_data(pointer, &data, &length)
            guard try check("read the journal", result) > 0, let data = unsafe data else {
                return fields
            }
            let bytes = unsafe UnsafeRawBufferPointer(start: data, count: length)
            guard let equals = unsafe bytes.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let key = unsafe String(decoding: bytes[..<equals], as: UTF8.self)
            let value = unsafe String(decoding: bytes[(equals + 1)...], as: UTF8.self)
            fields[key, default: []].append(value)
        }
    }
}

/// An entry of the journal, as it is read back.
package struct JournalRecord: Hashable, Sendable {
    /// When journald got it, in microseconds since 1970.
    package let time: Int64
    /// A field may have several.
    package let values: [String: [String]]

    package init(time: Int64, values: [String: [String]]) {
        self.time = time
        self.values = values
    }

    /// The first value of a field.
    package subscript(field: String) -> String? { values[field]?.first }
}
