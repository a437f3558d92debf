import CivilTime

/// The write operations that failed, with their next retry: after 1, 2, 4 … 60 seconds.
///
/// A verdict does not wait for them: a full disk must not keep a gate from closing.
struct PendingWrites: Hashable, Sendable {
    /// The failed operations, each with its place in the order of failure. Each stays until it is reported
    /// done.
    private var operations: [WriteOperation: Int] = [:]
    /// What is wrong with each directory in which writes are pending.
    private var blocked: [WriteOperation.Place: Blocked] = [:]
    /// How many operations were ever added.
    private var count = 0
    private var attempts = 0
    /// The time of the next retry; nil during a retry, or without pending writes.
    private(set) var retryAt: Boottime?

    /// A directory in which writes have failed.
    private struct Blocked: Hashable {
        /// The first of the failed operations, and why it failed last.
        let operation: WriteOperation
        var problem: String
        let since: Instant
        /// How many operations are pending in it.
        var count: Int
    }

    /// Whether no write is pending.
    var isEmpty: Bool { operations.isEmpty }

    /// Notes that a write was done. True if it was the last pending write.
    mutating func succeed(_ operation: WriteOperation) -> Bool {
        guard operations.removeValue(forKey: operation) != nil else { return false }
        release(operation)
        guard operations.isEmpty else { return false }
        self = PendingWrites()
        return true
    }

    /// Notes that a write failed, and retries `others` with it. True if it was not pending already.
    mutating func fail(
        _ operation: WriteOperation, _ problem: String, alsoRetry others: [WriteOperation],
        at now: Now
    ) -> Bool {
        let isNew = operations[operation] == nil
        let place = operation.place
        if blocked[place] == nil {
            blocked[place] = Blocked(
                operation: operation, problem: problem, since: now.wall, count: isNew ? 0 : 1)
        } else if blocked[place]?.operation == operation {
            blocked[place]?.problem = problem
        }
        for operation in [operation] + others where operations[operation] == nil {
            operations[operation] = count
            blocked[operation.place]?.count += 1
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
        for operation in operations.keys where isNeedless(operation) {
            operations[operation] = nil
            release(operation)
        }
    }

    private mutating func release(_ operation: WriteOperation) {
        blocked[operation.place]?.count -= 1
        if blocked[operation.place]?.count ?? 0 < 1 { blocked[operation.place] = nil }
    }

    /// A problem for each directory in which writes fail.
    var problems: [Problem] {
        WriteOperation.Place.allCases.compactMap { place in
            guard let blocked = blocked[place] else { return nil }
            let others = blocked.count > 1 ? " and \(blocked.count - 1) more" : ""
            return Problem(
                .host, place.kind, "\(blocked.operation.failure)\(others): \(blocked.problem)",
                since: blocked.since, isAlarm: true)
        }
    }
}

extension WriteOperation {
    /// The directory that an operation writes to.
    enum Place: CaseIterable {
        case state, runtime

        /// The kind of problem of the directory.
        fileprivate var kind: Problem.Kind { self == .state ? .stateDirectory : .runtimeDirectory }
    }

    /// The directory that it writes to.
    var place: Place {
        switch self {
        case .storeFlags, .storeVersion, .dropVersion, .reserveVersion, .storeLedger,
            .storeOverrides:
            .state
        case .markConfirmed, .publish: .runtime
        }
    }
}
