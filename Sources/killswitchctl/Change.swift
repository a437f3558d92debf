import CivilTime
import Decision
import JSON
import Records

/// What `watch` tells of a service: its state as it is from now on.
struct Change {
    let service: ServiceName
    /// Nil where it has no state any more: it is no longer configured.
    let state: PublishedState?
    let isCurrent: Bool
    let time: Instant
    let zone: Zone

    /// What makes it another one than the last. Times of writing and of validity do not: they move
    /// without anything having happened.
    var essence: [JSON.Value?] {
        guard let object = state?.object else { return [] }
        let passing = ["decided_at", "valid_until", "fetched_at", "version"]
        return object.members.filter { !passing.contains($0.key) }.map(\.value)
            + [.bool(isCurrent)]
    }

    /// For people: when, which, what, why.
    var line: String {
        let words =
            switch state {
            case nil: "is no longer configured"
            case .some(let state) where !isCurrent:
                "is out of date, it was \(state.summary); is killswitchd running?"
            case .some(let state):
                "\(state.summary): \(state.object["reason_text"]?.string ?? state.reason)"
            }
        return "\(zone.rfc3339(time)) \(service) \(words)"
    }

    /// For programs: state.json in one line.
    var json: JSON.Value {
        var object = state?.object ?? ["service": .string(service.text), "state": .null]
        object["current"] = .bool(isCurrent)
        return .object(object)
    }
}
