import Decision
import JSON
import Storage
import Systemd

/// A unit that would stop.
struct PlannedUnit {
    let name: UnitName
    /// The times of the last closing; nil if nobody asked.
    let times: StopTimes?

    /// How long its last stop took.
    var words: String {
        guard let times else { return "\(name)" }
        if times.isUnreadable { return "\(name) (the journal with its stop times cannot be read)" }
        return times.milliseconds[name].map { "\(name) (stopped in \($0) ms last time)" }
            ?? "\(name) (its stop was never measured)"
    }

    var json: JSON.Object {
        [
            "name": .string(name.text),
            "stop_ms": times?.milliseconds[name].map { .number(Number($0)) } ?? .null,
        ]
    }
}

/// How long the units of a service took to stop at the last closing or drill, by the journal.
struct StopTimes {
    private(set) var milliseconds: [UnitName: Int64] = [:]
    private(set) var isUnreadable = false

    init(of service: ServiceName, in published: PublishedFiles) {
        do {
            try History.requireSystemJournal()
            let trusted = try History.authors(with: published)
            let journal = try JournalReader()
            try journal.match("MESSAGE_ID", [LogMessage.Kind.gateMoved.row.messageID])
            try journal.match("KILLSWITCH_SERVICE", [service.text])
            try journal.match("KILLSWITCH_GATE", [Gate.closed.rawValue])
            try journal.seek(nil)
            while let record = try journal.next() {
                guard let user = record["_UID"].flatMap({ UInt32($0) }), trusted.contains(user)
                else { continue }
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
