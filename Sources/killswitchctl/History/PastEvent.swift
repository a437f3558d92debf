import CivilTime
import JSON
import Journal
import Records

/// An entry of the journal that tells of a decision or an order.
struct PastEvent {
    private let time: Instant
    private let fields: [String: String]
    /// Who wrote it, by the word of journald.
    let user: UInt32

    /// The kinds that make up the past of a service.
    static let kinds: [MessageID] = [
        .decided, .closingConfirmed, .overridden, .released, .overrideExpired, .forgotten,
    ]

    /// Nil where journald does not know who wrote it.
    init?(_ record: JournalRecord) {
        guard let user = record.fields["_UID"].flatMap({ UInt32($0) }) else { return nil }
        time = Instant(microseconds: record.time)
        fields = record.fields
        self.user = user
    }

    /// For people: when, and what was said.
    func line(in zone: Zone) -> String {
        "\(zone.rfc3339(time)) \((fields["MESSAGE"] ?? "").printable)"
    }

    /// For programs: the time, the sentence, and our own fields under the names that state.json has.
    func json(in zone: Zone) -> JSON.Value {
        var object: JSON.Object = [
            "time": .string(zone.rfc3339(time)), "message": .string(fields["MESSAGE"] ?? ""),
            "message_id": .string(fields["MESSAGE_ID"] ?? ""),
        ]
        for name in Self.members {
            object[name] = fields["KILLSWITCH_\(name.uppercased())"].map { .string($0) } ?? .null
        }
        object["days_left"] =
            fields["KILLSWITCH_DAYS_LEFT"].flatMap { Int64($0) }.map { .number(Number($0)) }
            ?? .null
        return .object(object)
    }

    private static let members = [
        "service", "state", "gate", "reason", "source", "version", "author", "cause", "until",
    ]
}
