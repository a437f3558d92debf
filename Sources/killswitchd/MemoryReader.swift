import Decision
import Files
import Records
import RemoteFlags

/// What earlier runs left, read back. What cannot be read is said, and done without.
struct MemoryReader {
    let state: StateDirectory
    let runtime: RuntimeDirectory
    let log: Log

    func memory(of sources: [any FlagSource]) -> Memory {
        var memory = Memory()
        if let ledger = restored(state.ledger) { memory.ledger = ledger }
        if let overrides = restored(state.overrides) { memory.overrides = overrides }
        for source in sources { memory.flags[source.name] = flags(of: source) }
        return memory
    }

    func flags(of source: any FlagSource) -> Memory.Kept? {
        restored { () throws(FileError) in
            try state.flags(
                of: source.name, mark: runtime.mark(of: source.name), isBound: source.isBound)
        }
    }

    private func restored<Value>(_ read: () throws(FileError) -> Restored<Value>) -> Value? {
        do {
            switch try read() {
            case .value(let value): return value
            case .nothing: return nil
            case .unreadable(let problem):
                log.write(.warning, "\(problem); going on without it")
            }
        } catch {
            log.write(.warning, "\(error); going on without it")
        }
        return nil
    }
}
