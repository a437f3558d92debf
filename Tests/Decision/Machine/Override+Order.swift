import CivilTime
import Decision
import Testing

extension Override {
    /// An operator's order from noon on, the start of every transcript.
    static func order(
        _ state: State, until: String = "2027-03-01T13:00:00Z", for cause: String = "disk swap",
        by author: String = "root"
    ) throws -> Override {
        try #require(
            Override(
                state: state, cause: cause, author: author,
                since: try Instant(rfc3339: "2027-03-01T12:00:00Z"),
                until: try Instant(rfc3339: until)))
    }
}
