import CivilTime
import Decision
import JSON
import Journal
import Records

/// An entry of the journal that tells of a decision or an order.
struct PastEvent {
    private let time: Instant
    private let record: JournalRecord
    /// Who wrote it, by the word of journald.
    let user: UInt32

    /// The kinds that make up the past of a service.
    static let kinds: [MessageID] = [
        .decided, .closingHeld, .closingConfirmed, .overridden, .released, .overrideExpired,
        .forgotten,
    ]

    /// Nil where journald does not know who wrote it.
    init?(_ record: JournalRecord) {
        guard let user = record["_UID"].flatMap({ UInt32($0) }) else { return nil }
        time = Instant(microseconds: record.time)
        self.record = record
        self.user = user
    }

    /// For people: when, and what was said.
    func line(in zone: Zone) -> String {
        "\(zone.rfc3339(time)) \((record["MESSAGE"] ?? "").printable)"
    }

    /// For programs: the time, the sentence, and our own fields under the names that state.json has. An
    /// event of several services is that of none, unless it was `service` that was asked for.
    func json(in zone: Zone, of service: ServiceName?) -> JSON.Value {
        var object: JSON.Object = [
            "time": .string(zone.rfc3339(time)), "message": .string(record["MESSAGE"] ?? ""),
            "message_id": .string(record["MESSAGE_ID"] ?? ""),
        ]
        let services = record.values["KILLSWITCH_SERVICE"] ?? []
        let one = service?.text ?? (services.count == 1 ? services.first : nil)
        object["service"] = one.map { .string($0) } ?? .null
        object["services"] = .array(services.map { .string($0) })
        for name in Self.members {
            object[name] = record["KILLSWITCH_\(name.uppercased())"].map { .string($0) } ?? .null
        }
        object["days_left"] =
            record["KILLSWITCH_DAYS_LEFT"].flatMap { Int64($0) }.map { .number(Number($0)) }
            ?? .null
        return .object(object)
    }

    private static let members = [
        "state", "gate", "reason", "source", "version", "author", "cause", "until",
    ]
}
