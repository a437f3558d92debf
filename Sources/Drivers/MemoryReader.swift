import CivilTime
package import Decision
package import FlagSources
package import Storage

/// Reads what earlier runs have stored: at a start, for a new source, and again what could not be read.
package struct MemoryReader {
    private let state: StateDirectory
    private let runtime: RuntimeDirectory

    /// A reader of these directories.
    package init(_ state: StateDirectory, _ runtime: RuntimeDirectory) {
        self.state = state
        self.runtime = runtime
    }

    /// The ledger and the orders. If one of them cannot be read, also what the files of `services` say: call it before
    /// `tidy` removes any.
    package func decisions(of services: [ServiceName]) -> Memory {
        var memory = Memory(ledger: state.ledger(), overrides: state.overrides())
        if !memory.problems.isEmpty { memory.published = runtime.published(of: services) }
        return memory
    }

    /// The stored flags of a source, and the highest version of its signed documents; nil without any. The
    /// source gets the flags too, to check their signatures again.
    package func flags(of source: any FlagSource) -> Memory.StoredFlags? {
        let stored = state.flags(
            of: source.name, mark: runtime.confirmationPath(of: source.name),
            isBound: source.matches)
        let version = state.version(of: source.name)
        guard stored != .none || version != .none else { return nil }
        var flags =
            stored.value ?? Memory.StoredFlags(answers: [], confirmedAt: Instant(seconds: 0))
        flags.problem = stored.problem
        flags.accepted = version
        source.documents?.setAnswersInForce(flags.answers)
        flags.disproved = source.documents?.disproofs ?? [:]
        return flags
    }

    /// What is in these files now, the flags of these sources among them.
    func read(
        _ records: Set<StoredRecord>, of sources: [SourceName: ActiveSource]
    ) -> Memory {
        var memory = Memory(ledger: .none, overrides: .none)
        for record in records {
            switch record {
            case .ledger: memory.ledger = state.ledger()
            case .overrides: memory.overrides = state.overrides()
            case .flags(let name):
                if let source = sources[name]?.source { memory.flags[name] = flags(of: source) }
            }
        }
        return memory
    }
}
