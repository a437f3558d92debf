import Decision
import Records
import RemoteFlags

/// What another configuration has the agent do, beside what the machine is told.
struct Following {
    /// All of its sources.
    let sources: [any FlagSource]
    let runtime: RuntimeDirectory
    /// Gives what is stored of a source that is new.
    let remember: (any FlagSource) -> Memory.Kept?
}

extension Event {
    /// Whether a source itself says this of what it does.
    func isReport(of source: SourceName) -> Bool {
        switch self {
        case .fetched(let name, _, _), .unwatched(let name, _), .doubted(let name, _):
            name == source
        // A hint does no harm, and may come from an operator.
        case .hinted, .started, .woke, .clockStepped, .recorded, .confirm, .override, .release,
            .activate, .forget, .installed, .reconfigured, .patienceEnded:
            false
        }
    }
}
