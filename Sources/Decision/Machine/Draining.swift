import CivilTime

/// Until when the units of a closed gate may run on. A drain begins when the gate closes. Nothing begins it anew while
/// the gate is closed: neither another closing nor a restart.
struct Draining: Hashable, Sendable {
    /// The end of the drain, also once it has passed; nil if the gate is open, or its units stopped at once.
    private(set) var end: Boottime?

    /// No drain.
    init() {}

    /// The drain of an earlier run in this boot.
    init(_ entry: Ledger.Entry) { end = entry.drainsUntil }

    /// Begins a drain of this length if the verdict closes a gate that was open, and ends it if the verdict opens the
    /// gate, or closes it in an emergency. A gate that nobody had decided has no units to drain. While nothing is
    /// decided a drain goes on. A reload with a shorter drain shortens it.
    mutating func follow(_ verdict: Verdict, was gate: Gate?, length: Duration, at now: Now) {
        guard verdict.gate != nil else { return }
        guard verdict.gate == .closed, !verdict.isUrgent, length > .zero else { return end = nil }
        let longest = now.boot + length
        if gate == .open || end.map({ $0 > longest }) ?? false { end = longest }
    }
}
