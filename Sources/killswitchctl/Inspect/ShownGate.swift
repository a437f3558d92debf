import CivilTime
import Decision
import Gates
import JSON
import Storage

/// The gate of a service as the commands show it: what was decided, and what the gate is in fact.
struct ShownGate {
    /// The gate of the verdict; nil while the service is undecided.
    let decided: Gate?
    /// What the gate is; nil while that is not known.
    let published: PublishedGate?
    /// The time from which the next try is counted.
    let now: Instant

    /// What the gate is, if known: the verdict's where nobody moves the gate, and a move that is ahead as begun.
    private var actual: GateStatus.Actual? {
        guard let published else { return nil }
        guard let actual = published.actual else {
            return decided == .open ? .open : decided == .closed ? .closed : nil
        }
        guard let decided, decided != published.wanted else { return actual }
        return decided == .open ? .opening : .closing
    }

    /// The message where no gate is moved.
    static let noGates = "killswitchd was started without --gates and moves no gate"

    /// Why nobody moves the gate; nil if somebody does, or if that is not known.
    var whyUnmoved: String? {
        guard let published, published.actual == nil else { return nil }
        return published.isEnforced
            ? Self.noGates : "'enforce = false' of the service: nothing is moved"
    }

    /// The same for a service that is only observed.
    var whyUnmovedIfObserved: String? { published?.isEnforced == false ? whyUnmoved : nil }

    /// What the gate of a service that is only observed would do; nil if it is moved.
    private var ifEnforced: String? {
        published?.isEnforced == false ? decided?.ifEnforced : nil
    }

    /// Whether its move does not go on: it is stuck, or waits for the bus or for an answer of systemd.
    var isHeldUp: Bool {
        actual == .stuck || published?.problem != nil && (actual == .closing || actual == .opening)
    }

    /// The column GATE: `closing 1/3`.
    var word: String {
        if let ifEnforced { return ifEnforced }
        guard let actual else { return "-" }
        guard let published, published.wanted == decided, published.total > 0 else {
            return actual.rawValue
        }
        let isPartial =
            switch actual {
            case .closing, .opening: true
            case .open: !published.held.isEmpty
            case .closed, .stuck: false
            }
        return actual.rawValue + (isPartial ? " \(published.arrived)/\(published.total)" : "")
    }

    /// A clause for the units that other services keep down, by these services.
    var keptUnits: [String] {
        guard let published, published.wanted == decided else { return [] }
        return Dictionary(grouping: published.held) { $0.by }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .map { services, units in
                let names = units.prefix(8).map { $0.unit }
                return names.andMore(of: units.count).joined(separator: ", ")
                    + (units.count == 1 ? " stays" : " stay") + " down because of "
                    + services.map { "'\($0)'" }.joined(separator: ", ")
            }
    }

    /// The gate with its units: `closing, 1 of 3 units down`; nil while the service is undecided.
    var words: String? {
        if let ifEnforced { return "not moved ('enforce = false'): it \(ifEnforced)" }
        guard let decided, let actual else { return nil }
        if let end = published?.drainsUntil, published?.wanted == decided {
            return "\(actual.rawValue), its units stop in \(max(0, (end - now).wholeSeconds)) s"
        }
        guard let published, published.wanted == decided, published.total > 0 else {
            return actual.rawValue
        }
        let direction = decided == .open ? "up" : "down"
        let (arrived, total) = (published.arrived, published.total)
        let units =
            switch (arrived == total, total == 1) {
            case (true, true): "its unit is \(direction)"
            case (true, false): "all \(total) units are \(direction)"
            case (false, true): "0 of 1 unit \(direction)"
            case (false, false): "\(arrived) of \(total) units \(direction)"
            }
        return ([actual.rawValue, units] + keptUnits).joined(separator: ", ")
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
