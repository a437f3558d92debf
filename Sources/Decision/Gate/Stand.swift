/// What a verdict asks of units: where the gate stands, and which state and variant is the present.
package struct Stand: Hashable, Sendable {
    package let gate: Gate
    package let state: State
    package let variant: String?

    /// Nil while the verdict is undecided: then nothing is moved.
    package init?(_ verdict: Verdict) {
        guard let gate = verdict.gate else { return nil }
        self.init(gate: gate, state: verdict.state, variant: verdict.variant)
    }

    package init(gate: Gate, state: State, variant: String? = nil) {
        self.gate = gate
        self.state = state
        self.variant = variant
    }

    /// The targets that are to be active, in the order in which they are started.
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
        return kinds.map { GateTarget(service: service, kind: $0) }
    }
}
