/// Why a condition counts as false though somebody may mean it to be true: it makes no sense, or the
/// official clients of the service do not agree on it.
struct Doubt: Error, Hashable, Sendable {
    /// One clause, lower case.
    let cause: String

    init(_ cause: String) {
        self.cause = cause
    }
}
