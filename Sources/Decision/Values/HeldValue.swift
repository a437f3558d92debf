import JSON

/// What is known of one remote value: the last good one.
struct HeldValue: Hashable, Sendable {
    var value: JSON.Value?
    /// The answer that it was read from, by its number; nil where it is the default.
    var answer: Int?
    /// Why the newest answer did not give one.
    var problem: InvalidFlag?

    /// Reads an answer. One of the wrong type changes nothing; what is wrong with it is given once.
    mutating func take(_ answer: NumberedAnswer, as plan: RemoteValue) -> InvalidFlag? {
        do {
            value = try plan.read(answer.flags)
            self.answer = answer.number
            problem = nil
            return nil
        } catch {
            defer { problem = error }
            return problem == error ? nil : error
        }
    }
}
