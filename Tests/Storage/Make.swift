import CivilTime
import Decision
import Support

/// A service with one switch; a test gives only the values that matter.
func service(_ name: String = "shop", zone: Zone = .utc) throws -> Service {
    Service(
        name: try named(name), zone: zone,
        switches: [Switch(source: "app", format: .status(.whole))])
}

/// A verdict by the flags of the source `app`.
func verdict(_ state: State, _ gate: Gate?) throws -> Verdict {
    Verdict(state: state, gate: gate, reason: .flags("app"))
}

func record(
    _ verdict: Verdict, generation: Int = 1, fetchedAt: String? = nil,
    nextEdge: String = "2027-03-02T00:00:00Z"
) throws -> PublishedVerdict {
    var record = PublishedVerdict(
        verdict: verdict, since: try Instant(rfc3339: "2027-03-01T11:00:00Z"),
        generation: generation, decidedAt: try Instant(rfc3339: "2027-03-01T12:00:00Z"),
        nextEdge: try Instant(rfc3339: nextEdge))
    record.fetchedAt = try fetchedAt.map { try Instant(rfc3339: $0) }
    return record
}
