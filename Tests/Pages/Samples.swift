import CivilTime
import Decision
import JSON
import Pages

/// A service with one switch.
func shop(values: [String] = []) throws -> Service {
    let source: SourceName = try name("app")
    var service = Service(
        name: try name("shop"), zone: .utc,
        switches: [Switch(source: source, format: .status(.whole))])
    service.values = try values.map {
        RemoteValue(name: try name($0), source: source, key: $0, type: .string)
    }
    return service
}

func name<Thing>(_ text: String) throws -> Name<Thing> {
    guard let name = Name<Thing>(text) else { throw NoName() }
    return name
}

private struct NoName: Error {}

/// A record as of 2027-03-01T12:00:00Z; a test changes the facts that matter.
func record(
    _ state: State, _ change: (inout Verdict) throws -> Void = { _ in }
) throws -> PublishedVerdict {
    let gate: Gate? =
        switch state {
        case .undecided: nil
        case .running, .countdown: .open
        case .maintenance, .updateRequired, .ended: .closed
        }
    var verdict = Verdict(state: state, gate: gate, reason: .flags(try name("app")))
    try change(&verdict)
    let now = try Instant(rfc3339: "2027-03-01T12:00:00Z")
    return PublishedVerdict(
        verdict: verdict, since: now, generation: 1, decidedAt: now,
        nextEdge: try Instant(rfc3339: "2027-03-02T00:00:00Z"))
}

/// The reason of a window until this time.
func window(until: String) throws -> Reason {
    .window(try name("app"), until: Zone.utc.zoned(try Instant(rfc3339: until)))
}

/// The page of a record by a template.
func page(
    _ template: String, _ record: PublishedVerdict, in language: Language = .english,
    of service: Service? = nil
) throws -> String {
    let page = Page(try PageTemplate(Array(template.utf8)), in: language)
    let service = try service ?? shop()
    return String(decoding: page.bytes(of: record, for: service), as: UTF8.self)
}
