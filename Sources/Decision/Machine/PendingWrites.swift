import CivilTime

/// The writes that failed, and when they are tried again: after 1, 2, 4 … 60 seconds.
///
/// A verdict does not wait for them, for a full disk must not keep a switch from firing.
struct PendingWrites: Hashable, Sendable {
    /// What has to be written, in the order of failure. Each stays until it is reported done.
    private var operations: [WriteOperation] = []
    private var attempts = 0
    /// When they are tried again; nil while an attempt is under way, or there are none.
    private(set) var retryAt: Boottime?

    /// Whether everything is written.
    var isEmpty: Bool { operations.isEmpty }

    /// Notes that a write was done. True where it was the last pending one.
    mutating func succeed(_ operation: WriteOperation) -> Bool {
        guard let index = operations.firstIndex(of: operation) else { return false }
        operations.remove(at: index)
        guard operations.isEmpty else { return false }
        self = PendingWrites()
        return true
    }

    /// Notes that a write failed, and has the `doubtful` ones done again with it. True where it was not
    /// pending already.
    mutating func fail(
        _ operation: WriteOperation, doubtful: [WriteOperation], at now: Now
    ) -> Bool {
        let isNew = !operations.contains(operation)
        for operation in [operation] + doubtful where !operations.contains(operation) {
            operations.append(operation)
        }
        if retryAt == nil {
            retryAt = now.boot + .seconds(min(60, 1 << min(attempts, 6)))
            attempts += 1
        }
        return isNew
    }

    /// The writes to be tried now. They stay pending until they are reported done.
    mutating func due(at now: Now) -> [WriteOperation] {
        guard let moment = retryAt, moment <= now.boot else { return [] }
        retryAt = nil
        return operations
    }

    /// Drops writes that nobody needs any more.
    mutating func drop(where isNeedless: (WriteOperation) -> Bool) {
        operations.removeAll(where: isNeedless)
    }
}
