import CivilTime
package import Decision

/// A unit that belongs to a service.
package struct ListedUnit: Hashable, Comparable, Sendable {
    package let service: ServiceName
    package let name: UnitName

    package init(service: ServiceName, name: UnitName) {
        self.service = service
        self.name = name
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.service, left.name) < (right.service, right.name)
    }
}

/// The result of a run of `killswitchctl attach --from-configuration`.
package struct AttachmentOutcome: Hashable, Sendable {
    /// The units that it has attached, with those that trigger them.
    package var attached: [ListedUnit] = []
    /// The units that it has detached, because the configuration lists them no longer.
    package var detached: [ListedUnit] = []
    /// Why it could not attach a unit, by the unit.
    package var refused: [ListedUnit: String] = [:]
    /// The names by which systemd knows units that are listed by an alias.
    package var names: [UnitName: UnitName] = [:]
    /// Why it has compared nothing, such as an invalid file; nil if it has.
    package var failure: String?
    /// The listed units that are not attached now, with the reason. The gates know them, and not the run.
    package internal(set) var missing: [ListedUnit: UnitProblem] = [:]

    package init() {}
}

/// The units that the configuration lists, and the run of `killswitchd-attach.service` that attaches them.
///
/// The daemon may not write the files of units. It has systemd start a unit of root, each time that a configuration
/// takes force. A listed unit that is not attached is a problem until it is, and no gate counts as closed.
struct ListedUnits: Hashable, Sendable {
    private enum Run: Hashable, Sendable {
        /// None is under way: there was none, or it has ended.
        case none
        /// Its start was asked for. Leaves for `running`, or for `refused`.
        case asked
        /// systemd has taken the job. Leaves for `ending` once the unit is at rest.
        case running
        /// It has ended, and its result is being read. Leaves for `none`.
        case ending
        /// systemd does not start it. Leaves for `asked` at `retryAt`.
        case refused(GateObstacle, retryAt: Boottime)
    }

    private var listed: [ServiceName: [UnitName]]
    private var run = Run.none
    /// Whether a run has to begin: it, or another one, for a configuration that came meanwhile.
    private var isDue = true
    private var since: Boottime?
    private var refusals = 0
    /// Whether units are attached because a configuration has listed them; nil until the drop-ins were read.
    private var haveAttached: Bool?
    private(set) var outcome = AttachmentOutcome()

    /// The unit that attaches them.
    static let unit = UnitName("killswitchd-attach.service")

    /// The units of the first configuration.
    init(_ listed: [ServiceName: [UnitName]]) { self.listed = listed }

    // MARK: Events

    /// Another configuration takes force.
    mutating func configure(
        _ listed: [ServiceName: [UnitName]], at now: Boottime, _ batch: inout GateBatch
    ) {
        recheck(&batch)
        self.listed = listed
        if run == .none { outcome = AttachmentOutcome() }
        (isDue, since, refusals) = (true, now, 0)
        recheck(&batch)
    }

    /// The drop-ins were read; `areOfConfiguration`: some of them were written for a configuration.
    mutating func dropInsRead(areOfConfiguration: Bool, _ batch: inout GateBatch) {
        if haveAttached == nil { recheck(&batch) }
        haveAttached = areOfConfiguration
    }

    /// An obstacle may be gone. `isAnyMissing`: a listed unit is not attached.
    mutating func retryNow(isAnyMissing: Bool, at now: Boottime) {
        switch run {
        case .none where isAnyMissing: isDue = true
        case .refused(let problem, _): run = .refused(problem, retryAt: now)
        case .none, .asked, .running, .ending: break
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

    /// The result of a run was read.
    mutating func runEnded(_ outcome: AttachmentOutcome, _ batch: inout GateBatch) {
        run = .none
        refusals = 0
        self.outcome = outcome
        recheck(&batch)
    }

    /// Begins a run if that is due and possible.
    mutating func advance(_ link: SystemdLink, at now: Boottime, _ batch: inout GateBatch) {
        guard link.mayMove else { return }
        switch run {
        case .none: guard isDue else { return }
        case .refused(_, let retryAt): guard retryAt <= now else { return }
        case .asked, .running, .ending: return
        }
        isDue = false
        guard !listed.isEmpty || haveAttached == true else { return }
        if since == nil { since = now }
        run = .asked
        batch.others.append(.attachListed)
        recheck(&batch)
    }

    /// Has the gates that list units looked at.
    func recheck(_ batch: inout GateBatch) {
        for service in listed.keys { batch.recheck(service) }
    }

    // MARK: Questions

    /// Whether signals of the unit are needed.
    var isSubscribed: Bool {
        switch run {
        case .asked, .running: true
        case .none, .ending, .refused: false
        }
    }

    /// Whether the result of the last configuration may still come soon.
    func isUnderWay(_ link: SystemdLink, at now: Boottime) -> Bool {
        let isOpen: Bool =
            switch run {
            case .none: isDue && (haveAttached == true || !listed.isEmpty)
            case .asked, .running, .ending: true
            case .refused: false
            }
        guard isOpen, link.isReachable else { return false }
        return since.map { now < $0 + Self.timeLimit } ?? true
    }

    /// The listed units of a service that are not `attached` to its open target, with the reason.
    func missing(
        of service: ServiceName, attached: @autoclosure () -> Set<UnitName>, _ link: SystemdLink,
        at now: Boottime
    ) -> [UnitName: UnitProblem] {
        guard haveAttached != nil, let own = listed[service] else { return [:] }
        let attached = attached()
        let missing = own.filter { !attached.contains($0) && !isAttached($0, in: attached) }
        return missing.reduce(into: [:]) { problems, unit in
            problems[unit] =
                isUnderWay(link, at: now)
                ? .attaching : .unattached(why(ListedUnit(service: service, name: unit), link))
        }
    }

    private func isAttached(_ alias: UnitName, in attached: Set<UnitName>) -> Bool {
        outcome.names[alias].map(attached.contains) ?? false
    }

    private func why(_ unit: ListedUnit, _ link: SystemdLink) -> String {
        if let problem = link.problem { return problem }
        let runner = Self.unit?.text ?? ""
        return switch run {
        case .refused(let problem, _): "'\(runner)' cannot be started: \(problem.refusal)"
        case .asked, .running, .ending: "'\(runner)' has not ended yet"
        case .none:
            outcome.refused[unit] ?? outcome.failure
                ?? "'\(runner)' has not attached it, see 'systemctl status \(runner)'"
        }
    }

    func wakeUp(_ link: SystemdLink, at now: Boottime) -> Boottime? {
        if case .refused(_, let retryAt) = run { return link.mayMove ? retryAt : nil }
        return isUnderWay(link, at: now) ? since.map { $0 + Self.timeLimit } : nil
    }

    /// Root's mover starts the run at most once in ten seconds.
    private static let timeLimit: Duration = .seconds(20)
}
