/// How a version that the stream announced is fetched: not by all hosts in the same second, and again
/// where the service still gave an older one, as it does.
struct Chase {
    /// The newest version that was announced and has not been seen.
    private var target: Int64?
    private var attempts = 0

    private static let most = 3

    /// Takes in that a version exists; says whether it is news to somebody who has `newest`.
    mutating func note(_ version: Int64, newest: Int64?) -> Bool {
        guard version > newest ?? -1 else { return false }
        if version > target ?? -1 {
            target = version
            attempts = 0
        }
        return true
    }

    /// Takes in how far a fetch came; says whether another is worth it.
    mutating func goesOn(newest: Int64?) -> Bool {
        guard let target, target > newest ?? -1, attempts < Self.most else {
            self.target = nil
            return false
        }
        attempts += 1
        return true
    }
}
