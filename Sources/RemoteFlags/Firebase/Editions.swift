import Decision

/// The numbers that Remote Config gives to what is published: each is higher than the one before, also
/// after a rollback.
struct Editions {
    private var highest: Int64?

    /// The newest that was seen since the start.
    var newest: Int64? { highest }

    /// Takes in the number of an answer. A lower one comes from a server that lags behind, or is an old
    /// answer played back: it is refused, so that nothing goes back and forth.
    mutating func take(_ text: String?, of what: String) throws(Failure) {
        guard let number = text.flatMap({ Int64($0) }) else { return }
        if let highest, number < highest {
            throw Failure(
                .invalid,
                "version \(number) of the \(what) is older than \(highest), which was seen")
        }
        highest = number
    }
}
