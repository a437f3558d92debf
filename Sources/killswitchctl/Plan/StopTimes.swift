import Decision
import Storage
import Systemd

/// How long the units of a service took to stop at the last closing or drill, by the journal.
struct StopTimes {
    private(set) var milliseconds: [UnitName: Int64] = [:]
    private(set) var isUnreadable = false

    init(of service: ServiceName) {
        do {
            try History.requireSystemJournal()
            let journal = try JournalReader()
            try journal.match("MESSAGE_ID", [LogMessage.Kind.gateMoved.row.messageID])
            try journal.match("KILLSWITCH_SERVICE", [service.text])
            try journal.match("KILLSWITCH_GATE", [Gate.closed.rawValue])
            try journal.seek(nil)
            while let record = try journal.next() {
                for text in record.values["KILLSWITCH_TOOK"] ?? [] {
                    let parts = text.split(separator: " ").map(String.init)
                    guard parts.count == 2, let unit = UnitName(parts[0]),
                        let time = Int64(parts[1])
                    else { continue }
                    milliseconds[unit] = time
                }
            }
        } catch {
            isUnreadable = true
        }
    }
}
