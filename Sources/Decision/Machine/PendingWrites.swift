import CivilTime

/// The write operations that failed, with their next retry: after 1, 2, 4 … 60 seconds.
///
/// A verdict does not wait for them: a full disk must not keep a gate from closing.
struct PendingWrites: Hashable, Sendable {
    /// The failed operations. Each stays until it is reported done.
    private var operations: [WriteOperation: Failed] = [:]
    /// How many operations were ever added.
    private var count = 0
    private var attempts = 0
    /// The time of the next retry; nil during a retry, or without pending writes.
    private(set) var retryAt: Boottime?

    private struct Failed: Hashable {
        /// Its place in the order of failure.
        let position: Int
        /// Why it failed last, and since when it fails.
        var problem: String
        let since: Instant
    }

    var isEmpty: Bool { operations.isEmpty }

    /// Notes that a write was done. True if it was the last pending write.
    mutating func succeed(_ operation: WriteOperation) -> Bool {
        guard operations.removeValue(forKey: operation) != nil, operations.isEmpty else {
            return false
        }
        self = PendingWrites()
        return true
    }

    /// Notes that a write failed, and retries `others` with it. True if it was not pending already.
    mutating func fail(
        _ operation: WriteOperation, _ problem: String, alsoRetry others: [WriteOperation],
        at now: Now
    ) -> Bool {
        let isNew = operations[operation] == nil
        operations[operation]?.problem = problem
        for operation in [operation] + others where operations[operation] == nil {
            operations[operation] = Failed(position: count, problem: problem, since: now.wall)
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
        return operations.sorted { $0.value.position < $1.value.position }.map(\.key)
    }

    /// Drops the pending writes that the configuration no longer needs.
    mutating func drop(where isNeedless: (WriteOperation) -> Bool) {
        operations = operations.filter { !isNeedless($0.key) }
    }

    /// Why a write failed last; nil if it is done.
    func problem(of operation: WriteOperation) -> String? { operations[operation]?.problem }

    /// A problem for each directory in which writes fail.
    var problems: [Problem] {
        [Problem.Kind.stateDirectory, .runtimeDirectory].compactMap { kind in
            let failed = operations.filter { $0.key.problemKind == kind }
            let first = failed.min { $0.value.position < $1.value.position }
            guard let (operation, failure) = first else { return nil }
            let others = failed.count > 1 ? " and \(failed.count - 1) more" : ""
            return Problem(
                .host, kind, "\(operation.failure)\(others): \(failure.problem)",
                since: failure.since)
        }
    }
}

extension WriteOperation {
    /// The problem of the directory to which it writes.
    fileprivate var problemKind: Problem.Kind {
        switch self {
        case .storeFlags, .storeVersion, .dropVersion, .reserveVersion, .storeLedger,
            .storeOverrides:
            .stateDirectory
        case .markConfirmed, .publish: .runtimeDirectory
        }
    }
}
