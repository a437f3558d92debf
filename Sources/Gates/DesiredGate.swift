package import Decision

/// The gate of a service as its verdict wants it: open or closed, with the state and the variant in
/// force.
package struct DesiredGate: Hashable, Sendable {
    package let gate: Gate
    package let state: State
    package let variant: String?

    /// The gate that a verdict wants; nil for an undecided verdict, which moves no gate.
    package init?(_ verdict: Verdict) {
        guard let gate = verdict.gate else { return nil }
        self.init(gate: gate, state: verdict.state, variant: verdict.variant)
    }

    /// The gate with these targets; without a variant, none of the variant targets.
    package init(gate: Gate, state: State, variant: String? = nil) {
        self.gate = gate
        self.state = state
        self.variant = variant
    }

    /// The targets that are to be active, in the order in which they are started. A variant that is
    /// no word has none, for no unit can have that name.
    package func targets(of service: ServiceName) -> [GateTarget] {
        var kinds: [GateTarget.Kind] = [gate == .open ? .open : .closed]
        switch state {
        case .undecided, .running: break
        case .countdown: kinds.append(.countdown)
        case .updateRequired: kinds.append(.updateRequired)
        case .maintenance: kinds.append(.maintenance)
        case .ended: kinds.append(.ended)
        }
        if let variant { kinds.append(.variant(variant)) }
        return kinds.map { GateTarget(service: service, kind: $0) }.filter { $0.unit != nil }
    }
}
