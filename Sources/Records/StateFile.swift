import CivilTime
package import Decision
package import JSON

/// `state.json`: the whole verdict, for programs. Its members and their order are the contract's;
/// an absent fact is null, never left out. A value of the flags is on one line, whatever it is.
package struct StateFile {
    package static let schema: Int64 = 1

    package static func text(of record: Record, for service: Service, bootID: String) -> String {
        JSON.Value.object(json(of: record, for: service, bootID: bootID)).serialized(.outline)
            + "\n"
    }

    /// The whole object.
    package static func json(
        of record: Record, for service: Service, bootID: String
    ) -> JSON.Object {
        let verdict = record.verdict
        let time = { (instant: Instant?) -> JSON.Value in
            instant.map { .string(service.zone.rfc3339($0)) } ?? .null
        }
        return [
            "schema": .number(Number(schema)),
            "service": .string(service.name.text),
            "state": .string(verdict.state.rawValue),
            "gate": .optional(verdict.gate?.rawValue),
            "reason": .string(verdict.reason.slug.rawValue),
            "reason_text": .string(verdict.reason.sentence),
            "since": time(record.since),
            "ends_at": time(verdict.endsAt),
            "days_left": verdict.daysLeft.map { .number(Number(Int64($0))) } ?? .null,
            "title": .optional(verdict.title),
            "message": .optional(verdict.message),
            "retry_after": verdict.retryAfter.map { .number(Number($0.wholeSeconds)) } ?? .null,
            "variant": .optional(verdict.variant),
            "values": .object(verdict.values),
            "override": verdict.override.map { override in
                .object([
                    "state": .string(override.state.rawValue),
                    "reason": .string(override.cause),
                    "author": .string(override.author),
                    "since": time(override.since),
                    "until": time(override.until),
                ])
            } ?? .null,
            "source": .optional(verdict.source?.text),
            "version": .optional(verdict.version),
            "fetched_at": time(record.fetchedAt),
            "decided_at": time(record.decidedAt),
            "valid_until": time(record.validUntil),
            "stale": .bool(verdict.isStale),
            "generation": .number(Number(Int64(record.generation))),
            "boot_id": .string(bootID),
        ]
    }
}

extension JSON.Value {
    static func optional(_ text: String?) -> Self {
        text.map { .string($0) } ?? .null
    }
}
