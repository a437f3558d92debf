import CivilTime
import Decision
import FlagSources
import Storage

/// Reads what earlier runs have stored. A file that cannot be read is a warning, and counts as missing.
struct MemoryReader {
    let state: StateDirectory
    let runtime: RuntimeDirectory
    let log: Log

    /// The whole memory that the machine begins with.
    func memory(of sources: [any FlagSource]) -> Memory {
        var memory = Memory()
        if let ledger = restored(state.ledger) { memory.ledger = ledger }
        if let overrides = restored(state.overrides) { memory.overrides = overrides }
        for source in sources { memory.flags[source.name] = flags(of: source) }
        return memory
    }

    /// The stored flags of a source, and the highest version of its signed documents; nil without any. The
    /// source gets the flags too, to check their signatures again.
    func flags(of source: any FlagSource) -> Memory.StoredFlags? {
        let stored = restored {
            try state.flags(
                of: source.name, mark: runtime.confirmationPath(of: source.name),
                isBound: source.matches)
        }
        let version = state.version(of: source.name)
        if case .unreadable(let cause) = version {
            log.write(.error, "\(cause); no signed document of source '\(source.name)' counts")
        }
        guard stored != nil || version != .none else { return nil }
        var flags = stored ?? Memory.StoredFlags(answers: [], confirmedAt: Instant(seconds: 0))
        flags.accepted = version
        source.documents?.setAnswersInForce(flags.answers)
        flags.disproved = source.documents?.disproofs ?? [:]
        return flags
    }

    private func restored<Value>(_ read: () throws -> Value?) -> Value? {
        do {
            return try read()
        } catch {
            log.write(.warning, "\(error); going on without it")
            return nil
        }
    }
}
