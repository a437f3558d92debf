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
        /// Why it failed last.
        var problem: String
    }

    var isEmpty: Bool { operations.isEmpty }

    /// Notes that a write was done.
    mutating func succeed(_ operation: WriteOperation) {
        guard operations.removeValue(forKey: operation) != nil, operations.isEmpty else { return }
        self = PendingWrites()
    }

    /// Notes that a write failed, and retries `others` with it.
    mutating func fail(
        _ operation: WriteOperation, _ problem: String, alsoRetry others: [WriteOperation],
        at now: Now
    ) {
        operations[operation]?.problem = problem
        for operation in [operation] + others where operations[operation] == nil {
            operations[operation] = Failed(position: count, problem: problem)
            count += 1
        }
        if retryAt == nil {
            retryAt = now.boot + Retry.local(after: attempts)
            attempts += 1
        }
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

    /// What is wrong with each directory in which writes fail, and with each source whose highest version is not safe.
    var findings: [Finding] {
        if operations.isEmpty { return [] }
        let versions = operations.compactMap { operation, failure in
            operation.versionSource.map { source in
                Finding(
                    .source(source), .stateDirectory,
                    "\(operation.failure): \(failure.problem); retrying",
                    matter: operation.failure)
            }
        }
        return versions.sorted { $0.text < $1.text } + directoryFindings
    }

    private var directoryFindings: [Finding] {
        [Finding.Kind.stateDirectory, .runtimeDirectory].compactMap { kind in
            let failed = operations.filter {
                $0.key.finding == kind && $0.key.versionSource == nil
            }
            let first = failed.min { $0.value.position < $1.value.position }
            guard let (operation, failure) = first else { return nil }
            let others = failed.count > 1 ? " and \(failed.count - 1) more" : ""
            return Finding(
                .host, kind, "\(operation.failure)\(others): \(failure.problem); retrying")
        }
    }
}

extension WriteOperation {
    /// The source whose highest version it is about; nil for another operation.
    fileprivate var versionSource: SourceName? {
        switch self {
        case .storeVersion(let source), .dropVersion(let source), .reserveVersion(let source):
            source
        case .storeFlags, .storeLedger, .storeOverrides, .markConfirmed, .publish: nil
        }
    }

    /// What is wrong where it fails.
    fileprivate var finding: Finding.Kind {
        switch self {
        case .storeFlags, .storeVersion, .dropVersion, .reserveVersion, .storeLedger,
            .storeOverrides:
            .stateDirectory
        case .markConfirmed, .publish: .runtimeDirectory
        }
    }
}

extension WriteOperation {
    fileprivate var failure: String {
        switch self {
        case .storeFlags(let source): "cannot store the flags of source '\(source)'"
        case .markConfirmed(let source): "cannot mark the flags of source '\(source)' as confirmed"
        case .storeVersion(let source): "cannot store the highest version of source '\(source)'"
        case .dropVersion(let source): "cannot delete the highest version of source '\(source)'"
        case .reserveVersion(let source):
            "cannot reserve space for the highest version of source '\(source)'"
        case .storeLedger: "cannot store the states"
        case .storeOverrides: "cannot store the orders"
        case .publish(let service): "cannot write the files of service '\(service)'"
        }
    }
}
