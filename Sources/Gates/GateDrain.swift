import CivilTime
import Decision

/// A closing whose units may run on for a while: files, markers and pages say closed already, so that load
/// balancers turn away and nothing is started any more.
struct GateDrain: Hashable, Sendable {
    private let desired: DesiredGate
    /// When the units are stopped; nil while the gate is to open again and its files cannot be written.
    private(set) var end: Boottime?

    /// The drain of a closing until `end`; nil if the units are stopped at once, or were by an earlier closing.
    init?(from before: Gate, to desired: DesiredGate, until end: Boottime?, at now: Boottime) {
        guard let end, end > now, desired.gate == .closed, before == .open else { return nil }
        self.desired = desired
        self.end = end
    }

    /// The units are stopped now.
    mutating func end(at now: Boottime) { end = min(end ?? now, now) }

    /// The gate opens as soon as its files can be written: the units run on until then.
    mutating func hold() { end = nil }

    /// The gate that follows, once the drain is over.
    func following(at now: Boottime) -> DesiredGate? {
        end.map { $0 <= now } ?? false ? desired : nil
    }

    /// The report of a gate during its drain. It counts the units that the end of the drain will stop.
    func report(
        of service: ServiceName, _ units: [AttachedUnit], since published: GateFiles,
        at now: Boottime
    ) -> GateStatus {
        let targets = desired.targets(of: service)
        let count = UnitCount(units) { $0.isDown(before: service, leaves: targets) }
        return GateStatus(
            wanted: desired.gate, actual: .closing,
            since: published.since(.closing, desired.gate) ?? .seen(now), drainsUntil: end,
            isUnavailable: true, units: count)
    }
}

extension GateMachine {
    /// Closes a gate whose drain is over.
    mutating func closeDrained(_ service: ServiceName, at now: Boottime, _ batch: inout GateBatch) {
        guard let drained = gates[service]?.drain?.following(at: now) else { return }
        decide(service, drained, nil, at: now, &batch)
    }
}

extension GateState {
    /// Postpones a closing until the end of its drain, and forgets the drain of the decision before. False if nothing
    /// is to drain: the decision has no drain, or the gate is closed already. A gate without a decision yet counts as
    /// open, because its drain is that of an earlier run.
    mutating func drain(to desired: DesiredGate, until end: Boottime?, at now: Boottime) -> Bool {
        let isOpen =
            self.desired.map {
                $0.gate == .open && !(targets.areAttachedKnown && targets.isGateMoved(from: $0))
            } ?? true
        drain = GateDrain(from: isOpen ? .open : .closed, to: desired, until: end, at: now)
        guard drain != nil else { return false }
        markConfigured()
        return true
    }

    /// Ends a drain if the gate is closed already: by hand, or because it was never opened. Returns whether that is so.
    mutating func endDrainIfClosed(at now: Boottime) -> Bool {
        guard drain != nil, let desired, targets.isGateMoved(from: desired) else { return false }
        drain?.end(at: now)
        return true
    }

    /// The jobs that may be asked for: a gate that drains is decided closed, and is not opened.
    func permitted(_ jobs: [TargetJob]) -> [TargetJob] {
        drain == nil ? jobs : jobs.filter { !($0.isStart && $0.target.kind == .open) }
    }
}
