import Decision
import JSON

/// A service in an answer of the daemon, as commands tell of it.
struct ServiceAnswer {
    private let object: JSON.Object

    init(_ value: JSON.Value?) {
        object = value?.object ?? JSON.Object()
    }

    /// Those under `services` of an answer.
    static func all(in answer: JSON.Object) -> [ServiceAnswer] {
        (answer["services"]?.array ?? []).map { ServiceAnswer($0) }
    }

    var name: String { text("service") }

    /// Until when it is forced, as its zone writes it.
    var forcedUntil: String { object["override"]?.object?["until"]?.string ?? "" }

    /// Who forced it.
    var author: String { object["override"]?.object?["author"]?.string ?? "" }

    /// The state in a few words: `countdown, 12 days left, its gate is open`.
    var standing: String {
        var words = text("state")
        if let days = object["days_left"]?.number?.int64, words == State.countdown.rawValue {
            words += ", \(days) \(days == 1 ? "day" : "days") left"
        }
        guard let gate = object["gate"]?.string else { return words }
        return words + ", its gate is \(gate)"
    }

    /// A line: the service, its state, and why it is in it.
    var line: String { "\(name): \(standing): \(text("reason_text"))" }

    private func text(_ key: String) -> String { object[key]?.string ?? "" }
}
