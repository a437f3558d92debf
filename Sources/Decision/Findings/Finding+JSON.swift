import CivilTime
package import JSON

extension Finding {
    /// The object for programs; docs/ARCHITECTURE.md names the files and commands that have it.
    package func json(at now: Now) -> JSON.Object {
        [
            "kind": .string(kind.rawValue),
            "services": .strings(subject.services.map(\.text)),
            "source": .optional(subject.source?.text),
            "unit": .optional(subject.unit?.text),
            "since": .optional(since(at: now).map(Zone.utc.rfc3339)),
            "text": .string(sentence),
            "advice": .string(advice),
            "alarm": .bool(isAlarm),
            "disarms": .bool(kind.row.disarms),
        ]
    }
}
