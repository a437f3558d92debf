import CivilTime
import Decision

/// The attachments that the gates should hold, compared with what systemd shows, whoever has written that: the target
/// stops the unit, the unit refuses to start without it, and no trigger of the unit is outside.
struct AttachmentComparison: Hashable, Sendable {
    /// How an attachment is not as it should be.
    struct Difference: Hashable, Sendable {
        let attachment: Attachment
        /// The drop-in of which systemd shows nothing; nil if that is not the difference.
        let dropIn: String?
        /// The unit that triggers the attached one, and does not follow the gate; nil if that is not the difference.
        let trigger: UnitName?
        /// When the drop-in went; nil if it was not there since the daemon has looked.
        fileprivate(set) var lostAt: Boottime?

        /// Whether nobody has had time to make it again.
        func isNew(at now: Boottime) -> Bool { lostAt.map { now < $0 + lossLimit } ?? false }

        var lostFile: String? { lostAt == nil ? nil : dropIn }

        /// The beginning of a sentence about it; nil for a drop-in that is missing.
        var cause: String? {
            trigger.map { "'\($0)' triggers it, and is outside of the gate; " }
        }
    }

    /// A drop-in that went, by which systemd had tied the unit to its gate.
    private struct Loss: Hashable, Sendable {
        var count = 0
        var last: Boottime
        var file: String
    }

    private var wanted: [ServiceName: [Attachment]] = [:]
    /// Those that systemd has shown tied.
    private var tied: Set<Attachment> = []
    private var losses: [Attachment: Loss] = [:]
    private var differences: [Attachment: Difference] = [:]
    /// Whether all of them are to be compared, once everything is read.
    private var isDue = true

    /// How long a unit may be untied before nobody waits for it.
    private static let lossLimit: Duration = .seconds(10)
    /// How often what is lost is made again, and how long a loss is told.
    static let repairInterval: Duration = .seconds(600)

    // MARK: Changes

    /// The gates should hold these from now on.
    mutating func expect(_ wanted: [ServiceName: [Attachment]]) {
        self.wanted = wanted
        let all = Set(wanted.values.joined())
        tied.formIntersection(all)
        losses = losses.filter { all.contains($0.key) }
        differences = differences.filter { all.contains($0.key) }
        isDue = true
    }

    /// Something is being read: all is compared after it.
    mutating func mustCompareAll() { isDue = true }

    /// Compares the gates that the event concerns, or all of them. `idle`: triggers that nobody uses.
    mutating func compare(
        _ gates: [ServiceName: GateState], _ units: [UnitName: AttachedUnit], idle: Set<UnitName>,
        at now: Boottime, _ batch: inout GateBatch
    ) {
        for service in isDue ? Set(wanted.keys) : batch.services {
            guard let gate = gates[service] else { continue }
            for attachment in wanted[service] ?? [] where gate.targets.isRead(attachment.target) {
                compare(attachment, gate, units[attachment.unit], idle, at: now, &batch)
            }
        }
        isDue = false
    }

    private mutating func compare(
        _ attachment: Attachment, _ gate: GateState, _ unit: AttachedUnit?, _ idle: Set<UnitName>,
        at now: Boottime, _ batch: inout GateBatch
    ) {
        let dropIn = gate.missingDropIn(of: attachment, unit)
        let isChecked = dropIn == nil && attachment.target.kind == .open
        let trigger = isChecked ? unit?.trigger(outsideOf: gate, idle: idle) : nil
        if let dropIn, tied.remove(attachment) != nil {
            let count = losses[attachment]?.count ?? 0
            losses[attachment] = Loss(count: count + 1, last: now, file: dropIn)
        } else if dropIn == nil {
            tied.insert(attachment)
            let wasLost = differences[attachment]?.lostFile != nil
            if wasLost, let unit, gate.hasStarted(attachment.target, without: unit) {
                batch.missed.insert(attachment)
            }
        }
        var difference: Difference?
        if dropIn != nil || trigger != nil {
            let before = differences[attachment]?.lostAt
            let lostAt = dropIn.flatMap { _ in before ?? losses[attachment]?.last }
            difference = Difference(
                attachment: attachment, dropIn: dropIn, trigger: trigger, lostAt: lostAt)
        }
        guard differences[attachment] != difference else { return }
        differences[attachment] = difference
        batch.recheck(attachment.service)
    }

    // MARK: Questions

    /// The services of which units should be attached.
    var services: some Collection<ServiceName> { wanted.keys }

    /// The attachments that the gate of a service should hold.
    func attachments(of service: ServiceName) -> [Attachment] { wanted[service] ?? [] }

    /// Whether systemd shows everything as it should be.
    var isEven: Bool { differences.isEmpty }

    /// Whether something went that was there, or a trigger came.
    var isLost: Bool { differences.values.contains { $0.trigger != nil || $0.lostAt != nil } }

    func differences(of service: ServiceName) -> [Difference] {
        (wanted[service] ?? []).compactMap { differences[$0] }
    }

    /// What was lost of the units of a service, not long ago or for now, as a clause about the unit.
    func losses(of service: ServiceName, at now: Boottime) -> [UnitName: String] {
        losses.reduce(into: [:]) { all, loss in
            let (attachment, loss) = loss
            let isLost = differences[attachment]?.dropIn != nil
            guard attachment.service == service, isLost || now < loss.last + Self.repairInterval
            else { return }
            let often = loss.count == 1 ? "has gone" : "has gone \(loss.count) times"
            let after = isLost ? "it is made again, at most every ten minutes" : "it was made again"
            all[attachment.unit] = "'\(loss.file)' \(often), which ties it to its gate; \(after)"
        }
    }

    /// The moments at which time alone changes something.
    var moments: [Boottime] {
        losses.values.flatMap { [$0.last + Self.lossLimit, $0.last + Self.repairInterval] }
    }
}

extension GateState {
    /// Whether the unit is down since before its target was started: without its tie the target did not start it.
    fileprivate func hasStarted(_ target: GateTarget, without unit: AttachedUnit) -> Bool {
        guard desired?.targets(of: service).contains(target) == true, unit.isDown,
            unit.seen != nil, let started = targets.upSince(target)
        else { return false }
        return unit.downSince.map { $0 < started } ?? true
    }

    /// The drop-in without which systemd does not tie a unit to its target, as far as is known; nil if it does.
    fileprivate func missingDropIn(of attachment: Attachment, _ unit: AttachedUnit?) -> String? {
        guard targets.stops(attachment.unit, with: attachment.target) else {
            return attachment.targetDropIn
        }
        let isRefused =
            targets.requires(attachment.target, attachment.unit)
            || unit.map { $0.isLost || $0.refusingServices?.contains(service) ?? true } ?? true
        return isRefused ? nil : attachment.dropIn
    }
}

extension AttachedUnit {
    /// A unit that triggers this one, and does not follow the gate; nil if there is none, or nobody uses it.
    fileprivate func trigger(outsideOf gate: GateState, idle: Set<UnitName>) -> UnitName? {
        triggeredBy.filter { !gate.attached.contains($0) && !idle.contains($0) }.min()
    }
}
