package import CivilTime

/// An operator's local verdict: it stands before everything that flags say, until it expires or is
/// released.
package struct Override: Hashable, Sendable {
    /// Never `undecided`.
    package let state: State
    /// Why, in the operator's words.
    package let cause: String
    /// Who, as the command line tells it: a user's name.
    package let author: String
    package let since: Instant
    package let until: Instant

    /// Nil for the state `undecided`: nobody can order not to know.
    package init?(state: State, cause: String, author: String, since: Instant, until: Instant) {
        guard state != .undecided else { return nil }
        self.state = state
        self.cause = cause
        self.author = author
        self.since = since
        self.until = until
    }

    /// Whether it was given for this cause, to the byte.
    package func isGiven(for cause: String) -> Bool {
        self.cause.utf8.elementsEqual(cause.utf8)
    }
}
