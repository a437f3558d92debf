import CSystemd
import Glibc
package import POSIX

/// Reads entries back from the journal's files, sd-journal(3), the oldest first.
@safe
package final class JournalReader {
    private let pointer: OpaquePointer

    /// Opens the journal of this host, as far as this user may read it; or the files in a directory.
    package init(directory: String? = nil) throws(SystemError) {
        var opened: OpaquePointer?
        let call = directory.map { "open the journal in '\($0)'" } ?? "open the journal"
        let result =
            if let directory {
                unsafe sd_journal_open_directory(&opened, directory, 0)
            } else {
                unsafe sd_journal_open(&opened, Int32(SD_JOURNAL_LOCAL_ONLY))
            }
        try SystemError.check(call, result)
        guard let pointer = unsafe opened else { throw SystemError(call, code: ENOMEM) }
        unsafe self.pointer = pointer
    }

    deinit { unsafe sd_journal_close(pointer) }

    /// Passes over entries whose field has none of these values. Several fields have to match together.
    package func match(_ field: String, _ values: [String]) throws(SystemError) {
        for value in values {
            let match = Array("\(field)=\(value)".utf8)
            try SystemError.check(
                "search the journal", unsafe sd_journal_add_match(pointer, match, match.count))
        }
    }

    /// Goes to the first entry at or after this time, in microseconds since 1970; without it, to the first of all.
    package func seek(_ time: Int64?) throws(SystemError) {
        let result =
            if let time {
                unsafe sd_journal_seek_realtime_usec(pointer, UInt64(max(time, 0)))
            } else {
                unsafe sd_journal_seek_head(pointer)
            }
        try SystemError.check("search the journal", result)
    }

    /// The next entry; nil after the last.
    package func next() throws(SystemError) -> JournalRecord? {
        guard try SystemError.check("read the journal", unsafe sd_journal_next(pointer)) > 0 else {
            return nil
        }
        var time: UInt64 = 0
        try SystemError.check(
            "read the journal", unsafe sd_journal_get_realtime_usec(pointer, &time))
        return JournalRecord(time: Int64(clamping: time), values: try fields())
    }

    private func fields() throws(SystemError) -> [String: [String]] {
        var fields: [String: [String]] = [:]
        unsafe sd_journal_restart_data(pointer)
        while true {
            var data: UnsafeRawPointer?
            var length = 0
            let result = unsafe sd_journal_enumerate_available_data(pointer, &data, &length)
            guard try SystemError.check("read the journal", result) > 0, let data = unsafe data
            else {
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

/// An entry that was read from the journal.
package struct JournalRecord: Hashable, Sendable {
    /// When journald received it, in microseconds since 1970.
    package let time: Int64
    /// The values of each field, which may have several.
    package let values: [String: [String]]

    /// The first value of a field; nil if the entry does not have the field.
    package subscript(field: String) -> String? { values[field]?.first }
}
