import Decision
import Records
import RemoteFlags

/// Reads what earlier runs have stored. A file that cannot be read is a warning, and counts as
/// missing.
struct MemoryReader {
    /// The directory of the stored files.
    let state: StateDirectory
    /// The directory of the sources' marks.
    let runtime: RuntimeDirectory
    /// The log for warnings.
    let log: Log

    /// The whole memory that the machine begins with.
    func memory(of sources: [any FlagSource]) -> Memory {
        var memory = Memory()
        if let ledger = restored(state.ledger) { memory.ledger = ledger }
        if let overrides = restored(state.overrides) { memory.overrides = overrides }
        for source in sources { memory.flags[source.name] = flags(of: source) }
        return memory
    }

    /// The stored flags of a source; nil without any.
    func flags(of source: any FlagSource) -> Memory.StoredFlags? {
        restored {
            try state.flags(
                of: source.name, mark: runtime.mark(of: source.name), isBound: source.isBound)
        }
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
