package import Decision

/// A template target of a service.
package struct GateTarget: Hashable, Sendable {
    /// The meaning of a target: a gate, a state or a variant is in force, or people are told of an end, a window or a
    /// change of the state.
    package enum Kind: Hashable, Comparable, Sendable {
        case open, closed, countdown, updateRequired, maintenance, ended, notice, change
        case variant(String)
    }

    package let service: ServiceName
    package let kind: Kind

    package init(service: ServiceName, kind: Kind) {
        self.service = service
        self.kind = kind
    }

    /// The target that a unit is; nil if it is no target of a gate.
    package init?(_ unit: UnitName) {
        guard unit.text.hasPrefix(Self.prefix), unit.type == "target",
            let instance = unit.instance, let at = unit.text.firstIndex(of: "@")
        else { return nil }
        let word = unit.text[..<at].dropFirst(Self.prefix.count)
        if word == "variant" {
            let parts = instance.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let service = ServiceName(String(parts[0])),
                Name<VariantTag>(String(parts[1])) != nil
            else { return nil }
            self.init(service: service, kind: .variant(String(parts[1])))
        } else {
            guard let kind = Kind.fixed.first(where: { $0.word == word }),
                let service = ServiceName(String(instance))
            else { return nil }
            self.init(service: service, kind: kind)
        }
    }

    /// The unit's name. Nil for a variant that is no word: no unit can have that name.
    package var unit: UnitName? {
        guard case .variant(let word) = kind else {
            return UnitName("\(Self.prefix)\(kind.word)@\(service).target")
        }
        guard Name<VariantTag>(word) != nil else { return nil }
        return UnitName("\(Self.prefix)variant@\(service):\(word).target")
    }

    /// The targets that show the decision on every service.
    package static func fixed(of service: ServiceName) -> [GateTarget] {
        Kind.fixed.map { GateTarget(service: service, kind: $0) }.filter(\.isOfDecision)
    }

    /// The targets that most units are attached to: `open` and `closed`.
    static func main(of service: ServiceName) -> [GateTarget] {
        fixed(of: service).filter(\.isMain)
    }

    var isMain: Bool { kind == .open || kind == .closed }

    /// Whether it shows a decision. A target of news does not: it is down again when its units have ended.
    var isOfDecision: Bool { !kind.isHook }

    /// The pattern of every unit of ours.
    package static let pattern = "killswitch-*@*.target"
    private static let prefix = "killswitch-"

    /// Whether systemd stops `other` when it starts this target: `Conflicts=` of the templates.
    func stops(_ other: GateTarget) -> Bool {
        guard service == other.service else { return false }
        return Self.conflicts(kind, other.kind) || Self.conflicts(other.kind, kind)
    }

    /// Whether systemd starts `other` with this target.
    func starts(_ other: GateTarget) -> Bool {
        startsClosed && other.kind == .closed && service == other.service
    }

    /// Whether systemd starts the closed target with this one: `Wants=` of the templates.
    var startsClosed: Bool { kind == .maintenance || kind == .ended }

    private static func conflicts(_ kind: Kind, _ other: Kind) -> Bool {
        switch kind {
        case .open: [.closed, .maintenance, .ended].contains(other)
        case .closed: [.open, .countdown].contains(other)
        case .countdown: [.closed].contains(other)
        case .updateRequired: [.countdown].contains(other)
        case .maintenance: [.open, .countdown, .updateRequired].contains(other)
        case .ended: [.open, .countdown, .updateRequired, .maintenance].contains(other)
        case .variant, .notice, .change: false
        }
    }

}

extension GateTarget.Kind {
    /// The kinds that every service has.
    package static let fixed: [Self] = [
        .open, .closed, .countdown, .updateRequired, .maintenance, .ended, .notice, .change,
    ]

    /// The word in the name of the unit.
    package var word: String {
        switch self {
        case .open: "open"
        case .closed: "closed"
        case .countdown: "countdown"
        case .updateRequired: "update-required"
        case .maintenance: "maintenance"
        case .ended: "ended"
        case .variant: "variant"
        case .notice: "notice"
        case .change: "change"
        }
    }

    /// Whether its units are started once for each news of this kind, whatever the gate.
    package var isHook: Bool { self == .notice || self == .change }

    /// The kind whose units pass on this news.
    init(_ hook: Hook) {
        self =
            switch hook {
            case .notice: .notice
            case .change: .change
            }
    }
}

/// Marks the names of variants.
package enum VariantTag {}

extension GateTarget: Comparable {
    /// By service, then in the order of the kinds: the order in which they are looked through.
    package static func < (left: Self, right: Self) -> Bool {
        (left.service, left.kind) < (right.service, right.kind)
    }
}

/// The gate of a service as its verdict wants it, with the state and the variant in force.
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

    /// The targets that are to be active, in the order of their start. A variant that is no word has none.
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
