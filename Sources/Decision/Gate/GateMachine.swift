package import CivilTime

/// Makes gates stand as decided, and follows what that does to units: events in, effects out.
///
/// It compares what is with what should be, whatever led there: so a lost answer, a daemon that was
/// killed between two moves, a bus that was restarted and an administrator who moved a gate all end
/// the same way. It moves targets only, on transitions only, because to start a target that is
/// active would start again what the administrator has stopped.
///
/// A value without a clock or a bus, beside `Machine` and fed by its verdicts.
package struct GateMachine: Sendable {
    /// The way to systemd.
    enum Link: Hashable, Sendable {
        case lost(retryAt: Boottime)
        case connecting
        case up
    }

    /// What is known of the system as a whole.
    enum Shutdown: Hashable, Sendable {
        case no
        case stopping(askAgainAt: Boottime)
    }

    var configured: Set<ServiceName>
    var services: [ServiceName: ServiceGate] = [:]
    var targets: [GateTarget: TargetState] = [:]
    var units: [UnitName: AttachedUnit] = [:]
    var link = Link.connecting
    var shutdown = Shutdown.no
    var isAsking = false
    /// How often the bus was looked for in vain.
    var failures = 0
    var lossSaid: String?
    /// The services that are not configured and whose units were named.
    var orphansSaid: Set<ServiceName> = []
    private var followed: Set<UnitName> = []
    private var lastWake: Boottime?

    /// A machine for these services, none of which is decided yet.
    package init(services: [ServiceName]) {
        configured = Set(services)
    }

    /// Takes in what happened at `now`, and says what is to be done about it, in that order.
    package mutating func handle(_ event: GateEvent, at now: Boottime) -> [GateEffect] {
        var batch = GateBatch()
        switch event {
        case .started: batch.connects = true
        case .decided(let service, let stand): decide(service, stand, at: now, &batch)
        case .withdrawn(let service): withdraw(service, &batch)
        case .listed(let loaded): takeList(loaded, &batch)
        case .lost(let problem): lose(problem, at: now, &batch)
        case .reloaded: batch.lists = link == .up
        case .seen(let unit, let seen): see(unit, seen, &batch)
        case .read(let unit, let facts): take(facts, of: unit, &batch)
        case .answered(let move, let problem): note(move, problem, at: now, &batch)
        case .systemState(let isStopping): take(isStopping: isStopping, at: now, &batch)
        case .unpublished(let service, let problem):
            noteUnpublished(service, problem, at: now, &batch)
        case .woke: wake(at: now, &batch)
        }
        for unit in batch.units.sorted() { judge(unit, at: now, &batch) }
        for service in batch.services.sorted() { advance(service, at: now, &batch) }
        if batch.asks {
            batch.asks = !isAsking
            isAsking = true
        }
        return batch.effects + follow() + publications(batch, at: now)
            + batch.notices.map(GateEffect.announce) + sleep()
    }

    /// Looks at everything that time may have changed.
    private mutating func wake(at now: Boottime, _ batch: inout GateBatch) {
        lastWake = nil
        if case .lost(let moment) = link, moment <= now {
            link = .connecting
            batch.connects = true
        }
        if case .stopping(let moment) = shutdown, moment <= now { batch.asks = link == .up }
        batch.services.formUnion(services.keys)
        batch.units.formUnion(units.keys)
    }

    private mutating func follow() -> [GateEffect] {
        let wanted = Set(targets.keys.compactMap(\.unit)).union(units.keys)
        guard wanted != followed, link == .up else { return [] }
        followed = wanted
        return [.follow(wanted)]
    }

    /// One wake-up for everything that time brings; said when it changes, or was used up.
    private mutating func sleep() -> [GateEffect] {
        var moments: [Boottime] = []
        if case .lost(let moment) = link { moments.append(moment) }
        if case .stopping(let moment) = shutdown { moments.append(moment) }
        for service in services.values {
            if case .moving(let transit) = service.phase, link == .up, shutdown == .no {
                if !transit.isRetryDue { moments.append(transit.retryAt) }
            }
            if let moment = service.heardBy { moments.append(moment) }
            if service.isPublishDue, let moment = service.publishedAt {
                moments.append(moment + Self.publishInterval)
            }
        }
        for unit in units.values { moments += unit.deadlines }
        let wake = moments.min()
        guard wake != lastWake else { return [] }
        lastWake = wake
        return [.sleep(wake)]
    }

    /// The bus has forgotten what we followed.
    mutating func forgetFollowed() { followed = [] }

    /// A hundred units that stop at once are a few writes, not a hundred.
    static let publishInterval: Duration = .milliseconds(200)

    /// 1, 2, 4 … 60 s.
    static func backOff(_ attempts: Int) -> Duration {
        .seconds(min(60, 1 << min(attempts, 6)))
    }
}
