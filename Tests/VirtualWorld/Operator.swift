import CivilTime
import Decision

/// An operator who gives and releases orders at random, and rehearses closings.
struct Operator {
    /// What the operator does to a service.
    enum Deed {
        /// An order; `ifOpen` rejects it unless the gate is open without another.
        case order(Override, ifOpen: Bool)
        case release
    }

    /// The next deed, at `now`.
    static func deed(at now: Instant, using random: inout SeededRandom) -> Deed? {
        let isDrill = Int.random(in: 0..<4, using: &random) == 0
        let state: State =
            isDrill
            ? .maintenance
            : [.running, .maintenance, .ended].randomElement(using: &random)
                ?? .running
        let until = now + .seconds(Int64.random(in: 60...20_000, using: &random))
        guard Int.random(in: 0..<3, using: &random) > 0 else { return .release }
        return Override(
            state: state, cause: isDrill ? "a drill" : "an order", author: "root", since: now,
            until: until, isUrgent: isDrill || Bool.random(using: &random)
        ).map { .order($0, ifOpen: isDrill) }
    }
}

extension StepsOracle.Order {
    /// An order as the daemon has it.
    init(_ override: Override) {
        self.init(
            state: override.state, until: override.until, isUrgent: override.isUrgent)
    }
}
