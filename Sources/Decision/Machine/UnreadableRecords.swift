import CivilTime

/// The stored files that cannot be read. Each is read again after 1, 2, 4 … 60 seconds until it can be, and nothing
/// writes over it: an order of an operator has it set aside, and so has an answer of the source whose flags it holds.
struct UnreadableRecords: Hashable, Sendable {
    /// Each with the cause, as a clause.
    private var records: [StoredRecord: String] = [:]
    private var attempts = 0
    /// When they are read again; nil without any.
    private(set) var retryAt: Boottime?

    /// Those of a memory.
    init(_ memory: Memory, at now: Now) { update(from: memory, at: now) }

    var isEmpty: Bool { records.isEmpty }

    func contains(_ record: StoredRecord) -> Bool {
        !records.isEmpty && records[record] != nil
    }

    /// Notes what a memory says that was read at the start, at a reload or again.
    mutating func update(from memory: Memory, at now: Now) {
        for (record, problem) in memory.problems {
            records[record] = problem
        }
        if retryAt == nil, !records.isEmpty { setRetry(at: now) }
    }

    /// Those that a memory has now, or knows to be gone. Flags that are gone stay: nobody knows what they said.
    func records(readIn memory: Memory) -> [StoredRecord] {
        let problems = memory.problems
        return records.keys.filter { record in
            guard problems[record] == nil else { return false }
            if case .flags(let source) = record { return memory.flags[source] != nil }
            return true
        }
    }

    /// It could be read, or it is set aside.
    mutating func remove(_ record: StoredRecord) {
        records[record] = nil
        if records.isEmpty { (attempts, retryAt) = (0, nil) }
    }

    /// The files to read again now; empty until their time has come.
    mutating func due(at now: Now) -> Set<StoredRecord> {
        guard let moment = retryAt, moment <= now.boot else { return [] }
        setRetry(at: now)
        return Set(records.keys)
    }

    private mutating func setRetry(at now: Now) {
        retryAt = now.boot + Retry.local(after: attempts)
        attempts += 1
    }

    /// What is kept because of each of them.
    var findings: [Finding] {
        if records.isEmpty { return [] }
        return records.map { record, cause in
            Finding(
                record.subject, .unreadableRecord, "\(cause); \(record.consequence)",
                matter: "\(record)")
        }.sorted { $0.sentence < $1.sentence }
    }
}

extension StoredRecord {
    fileprivate var subject: Finding.Subject {
        if case .flags(let source) = self { .source(source) } else { .host }
    }

    fileprivate var consequence: String {
        switch self {
        case .overrides:
            "the orders in it stay in force as far as another file knows them, and what may be ordered closed "
                + "stays closed"
        case .ledger: "what 'close_at_once' holds open stays open"
        case .flags:
            "until the source answers its services stay as they were, and after a reboot they stay closed"
        }
    }
}

extension Memory {
    /// Why files of it cannot be read.
    package var problems: [StoredRecord: String] {
        var problems: [StoredRecord: String] = [:]
        problems[.ledger] = ledger.problem
        problems[.overrides] = overrides.problem
        for (source, stored) in flags {
            if let problem = stored.problem { problems[.flags(source)] = problem }
        }
        return problems
    }
}
