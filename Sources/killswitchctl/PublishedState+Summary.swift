import Decision
import JSON
import Records

extension PublishedState {
    /// The state in a few words: "countdown, 12 days left".
    var summary: String {
        guard state == .countdown, let days = daysLeft else { return state.rawValue }
        return "\(state.rawValue), \(days) \(days == 1 ? "day" : "days") left"
    }

    var daysLeft: Int64? { object["days_left"]?.number?.int64 }

    var reason: String { object["reason"]?.string ?? "" }
}
