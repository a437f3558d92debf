import CivilTime
import Decision

struct Disk {
    private var answers: [SourceName: [Answer]] = [:]
    /// The marks of confirmations. They are in /run.
    private var confirmedAt: [SourceName: Instant] = [:]
    private var ledger = Ledger()
    private(set) var overrides: [ServiceName: Override] = [:]
    /// Whether the last write of the ledger was done.
    private(set) var isLedgerCurrent = true

    mutating func write(_ effect: Effect, at time: Instant) {
        switch effect {
        case .storeFlags(let name, let new): answers[name] = new
        case .markConfirmed(let name): confirmedAt[name] = time
        case .storeLedger(let new): (ledger, isLedgerCurrent) = (new, true)
        case .storeOverrides(let new): overrides = new
        case .fetch, .ask, .storeVersion, .dropVersion, .reserveVersion, .readVersion, .readAgain,
            .setAside, .forget,
            .publish,
            .announce,
            .withdraw,
            .stopSource, .reject, .log, .sleep:
            break
        }
    }

    mutating func fail(_ operation: WriteOperation) {
        if operation == .storeLedger { isLedgerCurrent = false }
    }

    /// Another daemon starts, or the host before it.
    mutating func restart(isReboot: Bool) {
        isLedgerCurrent = true
        if isReboot { confirmedAt = answers.compactMapValues { $0.map(\.fetchedAt).max() } }
    }

    /// What the next daemon knows.
    var memory: Memory {
        let flags = answers.compactMap { name, answers in
            confirmedAt[name].map {
                (name, Memory.StoredFlags(answers: answers, confirmedAt: $0))
            }
        }
        return Memory(
            flags: Dictionary(uniqueKeysWithValues: flags), ledger: ledger, overrides: overrides)
    }

    /// What the next daemon knows of a source, for the oracle.
    func received(of server: Server) -> Oracle.Received? {
        guard let confirmedAt = confirmedAt[server.name],
            let body = answers[server.name]?.first?.body,
            let edition = server.editions.first(where: { $0.answer.body == body })
        else { return nil }
        return Oracle.Received(saying: edition.saying, confirmedAt: confirmedAt)
    }
}
