import CivilTime
import Decision

/// The units that the configuration lists, compared with what systemd shows, and the run of
/// `killswitchd-attach.service` that attaches them.
///
/// The daemon may not write the files of units. It has systemd start a unit of root: each time that a configuration
/// takes force, and when a unit is not tied to its gate any more. A listed unit that is not tied is a problem until it
/// is, and no gate counts as closed.
struct ListedUnits: Hashable, Sendable {
    private enum Run: Hashable, Sendable {
        /// None is under way: there was none, or it has ended.
        case none
        /// Its start was asked for. Leaves for `running`, or for `refused`.
        case asked
        /// systemd has taken the job. Leaves for `ending` once the unit is at rest.
        case running
        /// It has ended, and its result is being read. Leaves for `comparing`, or for `none` if it has changed nothing.
        case ending
        /// What it has changed is being compared with what systemd shows. Leaves for `none`.
        case comparing
        /// systemd does not start it. Leaves for `asked` at `retryAt`.
        case refused(GateObstacle, retryAt: Boottime)
    }

    private var listed: [ServiceName: [ConfiguredUnit]]
    private var run = Run.none
    /// Whether a run has to begin: it, or another one, for a configuration that came meanwhile.
    private var isDue = true
    private var since: Boottime?
    private var refusals = 0
    /// Whether the result of the last run was read, or that there was none.
    private var isKnown = false
    private(set) var outcome = AttachmentOutcome()
    /// The attachments of the last run, and what the configuration lists beside it.
    private var comparison = AttachmentComparison()
    /// When the last run began that was to bring back what was lost.
    private var repairedAt: Boottime?

    /// The unit that attaches them.
    static let unit = UnitName("killswitchd-attach.service")

    /// The units of the first configuration.
    init(_ listed: [ServiceName: [ConfiguredUnit]]) {
        self.listed = listed
        updateWanted()
    }

    // MARK: Events

    /// Another configuration takes force.
    mutating func configure(
        _ listed: [ServiceName: [ConfiguredUnit]], at now: Boottime, _ batch: inout GateBatch
    ) {
        (outcome.attached, outcome.detached) = ([], [])
        let isSame = listed == self.listed && !isDue && run == .none && comparison.isEven
        // Nothing would come of a run. A command may have listed other units since the last configuration.
        let names = listed.flatMap { service, units in
            units.map { ListedUnit(service: service, name: $0.name) }
        }
        if isSame, Set(names) == outcome.listed, outcome.failure == nil, outcome.refused.isEmpty {
            return
        }
        recheck(&batch)
        self.listed = listed
        (isDue, since, refusals) = (true, now, 0)
        updateWanted()
        recheck(&batch)
    }

    /// The result of an earlier run was read.
    mutating func attachmentsRead(_ read: AttachmentOutcome, _ batch: inout GateBatch) {
        isKnown = true
        // While a run is being compared nobody has heard yet what it has changed.
        let changes = run == .comparing ? (outcome.attached, outcome.detached) : ([], [])
        // The command has attached other units meanwhile.
        if run == .none, read.wanted != outcome.wanted { run = .comparing }
        recheck(&batch)
        outcome = read
        (outcome.attached, outcome.detached) = changes
        updateWanted()
        recheck(&batch)
    }

    /// What the last run has left is newer than the configuration in force, unless another run has to follow.
    private mutating func updateWanted() {
        var wanted = Dictionary(grouping: outcome.wanted, by: \.service)
        let isOutdated = isDue || run != .none && run != .comparing
        for (service, units) in listed {
            for unit in units {
                let isRefused =
                    outcome.refused[ListedUnit(service: service, name: unit.name)] != nil
                var resolved = ConfiguredUnit(outcome.names[unit.name] ?? unit.name)
                (resolved.kind, resolved.isEarly) = (unit.kind, unit.isEarly)
                let attachment = resolved.attachment(to: service)
                let isThere = wanted[service]?.contains { $0.unit == attachment.unit } ?? false
                guard !isThere, isOutdated || isRefused || outcome.failure != nil else { continue }
                wanted[service, default: []].append(attachment)
            }
        }
        comparison.expect(wanted)
    }

    /// An obstacle may be gone. `isAnyMissing`: a listed unit is not attached.
    mutating func retryNow(isAnyMissing: Bool, at now: Boottime) {
        switch run {
        case .none where isAnyMissing && !comparison.isLost: isDue = true
        case .refused(let problem, _): run = .refused(problem, retryAt: now)
        case .none, .asked, .running, .ending, .comparing: break
        }
    }

    mutating func busLost() {
        if run != .none { isDue = true }
        run = .none
    }

    /// systemd starts the unit, or refuses to.
    mutating func startAnswered(
        _ problem: GateObstacle?, at now: Boottime, _ batch: inout GateBatch
    ) {
        guard run == .asked else { return }
        recheck(&batch)
        guard let problem else {
            run = .running
            return batch.read(Self.unit)
        }
        run = .refused(problem, retryAt: now + Retry.local(after: refusals))
        refusals += 1
    }

    /// systemd has told how the unit stands.
    mutating func unitSeen(_ seen: UnitStatus, _ batch: inout GateBatch) {
        guard run == .running, seen.isAtRestDown else { return }
        run = .ending
        batch.others.append(.readAttachOutcome)
    }

    /// The result of a run was read. Returns whether it has changed something, so that everything has to be read again.
    mutating func runEnded(_ outcome: AttachmentOutcome, _ batch: inout GateBatch) -> Bool {
        let hasChanged =
            outcome.wanted != self.outcome.wanted
            || !(outcome.attached.isEmpty && outcome.detached.isEmpty)
        run = hasChanged ? .comparing : .none
        refusals = 0
        isKnown = true
        recheck(&batch)
        self.outcome = outcome
        updateWanted()
        recheck(&batch)
        return hasChanged
    }

    /// A start of a unit was refused: a trigger may have come that was not used before.
    mutating func startRefused(of unit: UnitName, _ batch: inout GateBatch) {
        outcome.idleTriggers = []
        batch.read(unit)
    }

    /// Begins a run if that is due and possible. `haveUnits`: units are attached to gates.
    mutating func advance(
        _ link: SystemdLink, haveUnits: Bool, at now: Boottime, _ batch: inout GateBatch
    ) {
        guard link.mayMove else { return }
        switch run {
        case .none: guard isDue || isRepairDue(at: now) else { return }
        case .refused(_, let retryAt): guard retryAt <= now else { return }
        case .asked, .running, .ending, .comparing: return
        }
        guard !listed.isEmpty || haveUnits else { return }
        if comparison.isLost { repairedAt = now }
        isDue = false
        since = now
        run = .asked
        batch.others.append(.attachListed)
        recheck(&batch)
    }

    /// Has the gates that list units looked at.
    func recheck(_ batch: inout GateBatch) {
        for service in comparison.services { batch.recheck(service) }
    }

    // MARK: Comparison

    /// What was lost is made again at once, and then at most every ten minutes.
    private func isRepairDue(at now: Boottime) -> Bool {
        comparison.isLost
            && repairedAt.map { $0 + AttachmentComparison.repairInterval <= now } ?? true
    }

    /// Compares the units of gates with what systemd shows, once everything is read: a target and its units are read
    /// one after the other.
    mutating func compare(
        _ gates: [ServiceName: GateState], _ units: [UnitName: AttachedUnit], isReading: Bool,
        at now: Boottime, _ batch: inout GateBatch
    ) {
        guard isKnown, !isReading else { return comparison.mustCompareAll() }
        if run == .comparing {
            run = .none
            recheck(&batch)
        }
        // There is nothing to attach or detach.
        if listed.isEmpty, units.isEmpty { isDue = false }
        comparison.compare(gates, units, idle: outcome.idleTriggers, at: now, &batch)
    }

    /// What was lost of the units of a service, not long ago or for now.
    func losses(of service: ServiceName, at now: Boottime) -> [UnitName: String] {
        comparison.losses(of: service, at: now)
    }

    /// The units of a service that stay attached although the configuration lists them no longer.
    func kept(of service: ServiceName) -> Set<UnitName> {
        Set(outcome.kept.filter { $0.service == service }.map(\.unit))
    }

    /// Whether signals of the unit are needed.
    var isSubscribed: Bool {
        switch run {
        case .asked, .running: true
        case .none, .ending, .comparing, .refused: false
        }
    }

    /// Whether the result of the last configuration may still come soon.
    func isUnderWay(_ link: SystemdLink, at now: Boottime) -> Bool {
        let isOpen: Bool =
            switch run {
            case .none: isDue && !listed.isEmpty
            case .asked, .running, .ending, .comparing: true
            case .refused: false
            }
        guard isOpen, link.isReachable else { return false }
        if run == .comparing { return true }
        return since.map { now < $0 + Self.timeLimit } ?? true
    }

    /// Whether listed units may soon be attached that are not yet.
    func isAttaching(_ link: SystemdLink, at now: Boottime) -> Bool {
        run != .comparing && isUnderWay(link, at: now)
    }

    /// The units of a gate that systemd does not show tied to it, with the reason.
    func missing(
        of gate: GateState, _ link: SystemdLink, at now: Boottime
    ) -> [UnitName: UnitProblem] {
        // Before the comparison nobody knows whether one is tied that no target names.
        let unknown =
            isUnderWay(link, at: now)
            ? comparison.attachments(of: gate.service).map(\.unit)
                .filter { !gate.attached.contains($0) } : []
        let begun = Dictionary(unknown.map { ($0, UnitProblem.attaching) }) { first, _ in first }
        return comparison.differences(of: gate.service).reduce(into: begun) {
            problems, difference in
            let unit = difference.attachment.unit
            guard !isUnderWay(link, at: now), !difference.isNew(at: now) else {
                return problems[unit] = .attaching
            }
            problems[unit] = .unattached(
                (difference.cause ?? "") + why(difference, link))
        }
    }

    private func why(_ difference: AttachmentComparison.Difference, _ link: SystemdLink) -> String {
        if let problem = link.problem { return problem }
        let runner = Self.unit?.text ?? ""
        switch run {
        case .refused(let problem, _):
            return "'\(runner)' cannot be started: \(problem.refusal)"
        case .asked, .running, .ending, .comparing: return "'\(runner)' has not ended yet"
        case .none: break
        }
        let unit = difference.attachment.unit
        let names = outcome.names.filter { $0.value == unit }.map(\.key)
        let refusal = ([unit] + names).compactMap {
            outcome.refused[ListedUnit(service: difference.attachment.service, name: $0)]
        }.first
        return refusal ?? outcome.failure ?? difference.lostFile.map { "'\($0)' has gone" }
            ?? "'\(runner)' has not attached it, see 'systemctl status \(runner)'"
    }

    func wakeUp(_ link: SystemdLink, at now: Boottime) -> Boottime? {
        if case .refused(_, let retryAt) = run { return link.mayMove ? retryAt : nil }
        let limit = isUnderWay(link, at: now) ? since.map { $0 + Self.timeLimit } : nil
        let repair = comparison.isLost && link.mayMove ? repairedAt : nil
        let times = [limit, repair.map { $0 + AttachmentComparison.repairInterval }]
        return (times.compactMap(\.self) + comparison.moments).filter { $0 > now }.min()
    }

    /// Root's mover starts the run at most once in ten seconds.
    private static let timeLimit: Duration = .seconds(20)
}
