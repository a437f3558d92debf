import CivilTime

/// The write operations that failed, with their next retry: after 1, 2, 4 … 60 seconds.
///
/// A verdict does not wait for them: a full disk must not keep a gate from closing.
struct PendingWrites: Hashable, Sendable {
    /// The failed operations, each with its place in the order of failure. Each stays until it is reported
    /// done.
    private var operations: [WriteOperation: Int] = [:]
    /// How many operations were ever added.
    private var count = 0
    private var attempts = 0
    /// The time of the next retry; nil during a retry, or without pending writes.
    private(set) var retryAt: Boottime?

    /// Whether no write is pending.
    var isEmpty: Bool { operations.isEmpty }

    /// Notes that a write was done. True if it was the last pending write.
    mutating func succeed(_ operation: WriteOperation) -> Bool {
        guard operations.removeValue(forKey: operation) != nil else { return false }
        guard operations.isEmpty else { return false }
        self = PendingWrites()
        return true
    }

    /// Notes that a write failed, and retries `others` with it. True if it was not pending already.
    mutating func fail(
        _ operation: WriteOperation, alsoRetry others: [WriteOperation], at now: Now
    ) -> Bool {
        let isNew = operations[operation] == nil
        for operation in [operation] + others where operations[operation] == nil {
            operations[operation] = count
            count += 1
        }
        if retryAt == nil {
            retryAt = now.boot + .seconds(min(60, 1 << min(attempts, 6)))
            attempts += 1
        }
        return isNew
    }

    /// The writes whose retry is due. They stay pending until they are reported done.
    mutating func due(at now: Now) -> [WriteOperation] {
        guard let moment = retryAt, moment <= now.boot else { return [] }
        retryAt = nil
        return operations.sorted { $0.value < $1.value }.map(\.key)
    }

    /// Drops the pending writes that the configuration no longer needs.
    mutating func drop(where isNeedless: (WriteOperation) -> Bool) {
        operations = operations.filter { !isNeedless($0.key) }
    }
}
