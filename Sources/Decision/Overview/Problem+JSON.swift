import CivilTime
package import JSON

extension Problem {
    /// A finding as `host.json` and the commands print it.
    package var json: JSON.Object {
        [
            "kind": .string(kind.rawValue),
            "services": .strings(subject.services.map(\.text)),
            "source": .optional(subject.source?.text),
            "unit": .optional(subject.unit?.text),
            "since": .optional(since.map(Zone.utc.rfc3339)),
            "text": .string(sentence),
            "advice": .string(advice),
            "alarm": .bool(isAlarm),
        ]
    }
}
