import CivilTime
import Decision

/// The targets of a service as systemd reports them: the status of each, its calls in flight, and the units attached to
/// it. It stores no decision: each question about a decision has it as an argument.
struct GateTargets: Hashable, Sendable {
    private struct TargetState: Hashable, Sendable {
        var seen = UnitStatus(.inactive)
        /// How many calls for it are in flight.
        var calls = 0
        var isRead = false
        /// The units that stop with it, by systemd.
        var tied: Set<UnitName> = []
        /// Those of them that must not start without it, by systemd.
        var requisiteOf: Set<UnitName> = []
        /// The units that the configuration attaches to it. systemd forgets the drop-in of a unit whose file is
        /// gone or that is masked, and a drop-in may go; the unit may still run.
        var named: Set<UnitName> = []
        var wants: Set<UnitName> = []
        /// When it was started last; nil if that is not known.
        var upSince: Uptime?
        /// Whether it has to be started once more for the sake of its units, though it is active.
        var isStartDue = false

        var attached: Set<UnitName> { tied.union(named) }

        /// Whether it is active and stays so, and no start of its units is due.
        var isActive: Bool { seen.active == .active && !seen.hasJob && !isStartDue }
        /// Whether it is down, stays so, and nothing was asked of it.
        var isAtRestDown: Bool { seen.isAtRestDown && calls == 0 }
        /// Whether a call of this daemon or a job of systemd is under way for it.
        var isUnderWay: Bool { calls > 0 || seen.hasJob }
    }

    private let service: ServiceName
    private var states: [GateTarget: TargetState] = [:]
    /// The targets that show the decision.
    private var decided: some Collection<(key: GateTarget, value: TargetState)> {
        states.filter(\.key.isOfDecision)
    }

    init(of service: ServiceName) { self.service = service }

    // MARK: Targets and units

    /// Knows from now on the targets that every service has.
    mutating func expectFixed() { expect(GateTarget.fixed(of: service)) }

    /// Knows these targets from now on, inactive until systemd says otherwise.
    mutating func expect(_ targets: [GateTarget]) {
        for target in targets where states[target] == nil { states[target] = TargetState() }
    }

    /// The targets that show a decision and may be up: those that every service has, and variants that are not down.
    var mayBeUp: [GateTarget] {
        let fixed = GateTarget.fixed(of: service)
        let variants = decided.filter { !fixed.contains($0.key) && !$0.value.isAtRestDown }
        return (fixed + variants.map(\.key)).sorted()
    }

    /// The units whose changes tell how the targets stand.
    var units: [UnitName] { states.keys.compactMap(\.unit) }

    var count: Int { states.count }

    /// All units that are attached to any of them.
    var attached: Set<UnitName> { states.values.reduce(into: []) { $0.formUnion($1.attached) } }

    /// Whether systemd has told which units are attached to a target.
    func isRead(_ target: GateTarget) -> Bool { states[target]?.isRead ?? false }

    /// Whether systemd stops a unit with a target.
    func stops(_ unit: UnitName, with target: GateTarget) -> Bool {
        states[target]?.tied.contains(unit) ?? false
    }

    /// Whether a unit has `Requisite=` on a target.
    func requires(_ target: GateTarget, _ unit: UnitName) -> Bool {
        states[target]?.requisiteOf.contains(unit) ?? false
    }

    /// Whether the units attached to the open and the closed target are known.
    var areAttachedKnown: Bool {
        GateTarget.main(of: service).allSatisfy { states[$0]?.isRead ?? false }
    }

    // MARK: Reports of systemd

    /// systemd has listed all targets that are loaded: every other is inactive. Returns the targets
    /// that may have units attached: `open` and `closed`, and any other that is loaded or should have some.
    mutating func targetsListed(_ loaded: [GateTarget: UnitStatus]) -> [UnitName] {
        for target in states.keys { states[target]?.seen = UnitStatus(.inactive) }
        for (target, seen) in loaded { targetChanged(to: seen, of: target) }
        let named = states.filter { $0.key.isMain || !$0.value.named.isEmpty }.map(\.key)
        return Set(named).union(loaded.keys).sorted().compactMap(\.unit)
    }

    /// The targets that may have units attached after a move: the same two, and any other that is not down.
    func targetsToRead() -> Set<GateTarget> {
        Set(states.filter { $0.key.isMain || !$0.value.seen.active.isDown }.keys)
    }

    /// A target that nobody expects matters only while it is not down: anybody may have systemd load it.
    mutating func targetChanged(to seen: UnitStatus, of target: GateTarget) {
        guard states[target] != nil || !seen.isAtRestDown else { return }
        states[target, default: TargetState()].seen = seen
    }

    /// Everything about a target was read. Returns the units that are not attached to it any more.
    mutating func targetRead(_ properties: UnitSnapshot, of target: GateTarget) -> Set<UnitName> {
        let isExpected = states[target] != nil || !properties.seen.isAtRestDown
        guard isExpected || !properties.tied.isEmpty else { return [] }
        var state = states[target] ?? TargetState()
        let before = state.attached
        state.seen = properties.seen
        state.isRead = true
        state.tied = Set(properties.tied)
        state.requisiteOf = Set(properties.requisiteOf)
        state.wants = Set(properties.wants)
        state.upSince = properties.upSince
        states[target] = state
        return before.subtracting(state.attached)
    }

    /// The configuration attaches these units. Returns the targets whose units have changed, with the units that are
    /// not attached to them any more.
    mutating func attachmentsRead(_ named: [GateTarget: Set<UnitName>]) -> [GateTarget: Set<
        UnitName
    >] {
        var changed: [GateTarget: Set<UnitName>] = [:]
        for target in Set(named.keys).union(states.keys) {
            let units = named[target] ?? []
            guard (states[target]?.named ?? []) != units else { continue }
            let before = states[target]?.attached ?? []
            states[target, default: TargetState()].named = units
            changed[target] = before.subtracting(states[target]?.attached ?? [])
        }
        return changed
    }

    /// The units that are attached to a target, and whether it starts each.
    func attachments(to target: GateTarget) -> [UnitName: Bool] {
        guard let state = states[target] else { return [:] }
        // That the target of notices starts a unit is no wish that the unit runs.
        let isStarter = target.isOfDecision
        return state.attached.reduce(into: [:]) { $0[$1] = isStarter && state.wants.contains($1) }
    }

    // MARK: Calls

    mutating func jobSent(_ job: TargetJob) {
        states[job.target, default: TargetState()].calls += 1
    }

    /// systemd has answered a call: it does the job, or refuses it.
    mutating func jobAnswered(_ job: TargetJob, isRefused: Bool) {
        if let calls = states[job.target]?.calls, calls > 0 { states[job.target]?.calls -= 1 }
        if job.isStart, !isRefused { states[job.target]?.isStartDue = false }
    }

    /// The open target has to be started once more: it is active, and units that it wants are not.
    mutating func startAgain() {
        states[GateTarget(service: service, kind: .open), default: TargetState()].isStartDue = true
    }

    // MARK: Compared with a decision

    /// The jobs whose answers are awaited, while the mover acts by `wantedOrders` alone: stops of targets that no start
    /// stops by itself, then starts. `isMidway`: earlier jobs are not confirmed, so that `seen` may be out of date.
    func jobs(to desired: DesiredGate, isMidway: Bool) -> [TargetJob] {
        let wanted = desired.targets(of: service)
        let starts = wanted.filter { isMidway || states[$0]?.isActive != true }
        let stops = decided.map(\.key).sorted().filter { target in
            !wanted.contains(target) && states[target]?.isAtRestDown == false
                && !starts.contains { $0.stops(target) }
        }
        return stops.map(TargetJob.stop) + starts.map(TargetJob.start)
    }

    /// Whether every wanted target is active with nothing pending, and every other is down.
    func areConfirmed(as desired: DesiredGate) -> Bool {
        let wanted = desired.targets(of: service)
        return decided.allSatisfy { target, state in
            guard state.calls == 0 else { return false }
            return wanted.contains(target) ? state.isActive : state.seen.active.isDown
        }
    }

    /// Whether a target stands otherwise than decided.
    func deviate(from desired: DesiredGate) -> Bool {
        let wanted = desired.targets(of: service)
        return decided.contains { wanted.contains($0.key) == $0.value.seen.active.isDown }
    }

    /// Whether the gate itself stands otherwise than decided, and not just a target of its state.
    func isGateMoved(from desired: DesiredGate) -> Bool {
        let wanted = desired.targets(of: service)
        return decided.contains {
            $0.key.isMain && wanted.contains($0.key) == $0.value.seen.active.isDown
        }
    }

    /// Whether an answer of systemd is awaited.
    var haveCalls: Bool { decided.contains { $0.value.calls > 0 } }

    /// When systemd brought a target into its state; nil if it has not told.
    func since(_ target: GateTarget) -> Instant? { states[target]?.seen.since }

    /// When a target was started last; nil if that is not known.
    func upSince(_ target: GateTarget) -> Uptime? { states[target]?.upSince }

    /// Whether a call or a job of any of them is under way.
    var areUnderWay: Bool { decided.contains { $0.value.isUnderWay } }

    /// Whether systemd shows the open target active, and no job for it.
    var isSeenOpen: Bool {
        states[GateTarget(service: service, kind: .open)]?.seen.isAtRestUp ?? false
    }

    /// Whether a target that was perhaps never loaded is down.
    func isDown(_ target: GateTarget) -> Bool { states[target]?.seen.active.isDown ?? true }

    /// Whether a target that was perhaps never loaded is down with nothing under way.
    func isAtRestDown(_ target: GateTarget) -> Bool { states[target]?.isAtRestDown ?? true }
}
