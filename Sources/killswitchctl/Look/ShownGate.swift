import CivilTime
import Decision
import JSON
import Records

/// The gate of a service as the commands show it: what was decided, and what the gate is in fact.
struct ShownGate {
    /// The gate of the verdict; nil while the service is undecided.
    let decided: Gate?
    /// What the gate is; nil while that is not known.
    let published: PublishedGate?
    /// The time from which the next try is counted.
    let now: Instant

    /// The gate beside a verdict.
    init(_ decided: Gate?, _ published: PublishedGate?, at now: Instant) {
        self.decided = decided
        self.published = published
        self.now = now
    }

    /// What the gate is, as far as it is known. A decision that the daemon has not begun to carry out is a
    /// move ahead. Without a daemon that moves gates it is the verdict's.
    private var actual: GateReport.Actual? {
        guard let published, let actual = published.actual else {
            return decided == .open ? .open : decided == .closed ? .closed : nil
        }
        guard let decided, decided != published.wanted else { return actual }
        return decided == .open ? .opening : .closing
    }

    /// Whether it cannot be moved, or a unit runs that it does not stop.
    var isStuck: Bool { actual == .stuck }

    /// The column GATE: `closing 1/3`.
    var word: String {
        guard let actual else { return "-" }
        guard let published, published.wanted == decided, published.total > 0 else {
            return actual.rawValue
        }
        switch actual {
        case .closing, .opening: return "\(actual.rawValue) \(published.arrived)/\(published.total)"
        case .open, .closed, .stuck: return actual.rawValue
        }
    }

    /// The gate with its units: `closing, 1 of 3 units down`; nil while the service is undecided.
    var words: String? {
        guard let decided, let actual else { return nil }
        if let end = published?.drainsUntil, published?.wanted == decided {
            return "\(actual.rawValue), its units stop in \(max(0, (end - now).wholeSeconds)) s"
        }
        guard let published, published.wanted == decided, published.total > 0 else {
            return actual.rawValue
        }
        let units = published.total == 1 ? "unit" : "units"
        let direction = decided == .open ? "up" : "down"
        return
            "\(actual.rawValue), \(published.arrived) of \(published.total) \(units) \(direction)"
    }

    /// The problem, the next try, and what to do; nil without a problem.
    var problem: String? {
        guard let problem = published?.problem else { return nil }
        let advice = published?.object["advice"]?.string
        return [problem, nextTry, advice].compactMap(\.self).joined(separator: "; ")
    }

    private var nextTry: String? {
        guard let time = published?.nextTry else { return nil }
        let wait = time - now
        return wait > .zero ? "next try in \(max(1, wait.wholeSeconds)) s" : "trying again"
    }

    /// The object for programs: `gate.json`, or null.
    var json: JSON.Value { published.map { .object($0.object) } ?? .null }
}
