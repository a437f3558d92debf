import Decision
import Gates

/// A small systemd: the targets of one service, one unit that is attached to the open target, and their jobs.
///
/// A job of the model does what systemd does by the templates in packaging/systemd and by the drop-in that `attach`
/// writes: `Conflicts=` stops, `Wants=` starts, the assertion on the marker `open` refuses, and of two ordered units
/// the one that stops goes first. A unit takes two steps to start or stop. Signals are sent later than the change, and
/// show the unit as it is when they are sent.
struct ModelSystemd: Hashable {
    enum Unit: Int, CaseIterable { case open, closed, maintenance, web }
    enum Job { case start, stop }

    private(set) var active: [ActiveState]
    private(set) var jobs: [Job?] = [nil, nil, nil, nil]
    /// The units whose change was not signalled, in the order of the changes.
    private(set) var unsignalled: [Unit] = []
    /// Whether the marker `open` is there, without which each start of the attached unit is refused.
    var isMarked: Bool
    private(set) var result = "success"
    private(set) var isStartRefused = false
    /// Whether its start has failed, or somebody has interfered with it: it may be down behind an open gate.
    private(set) var isSpoilt = false

    /// A system whose gate is open with the unit running, closed, or where nothing was started since the boot.
    init(_ gate: Gate?, hasState: Bool) {
        isMarked = gate == .open
        active =
            switch gate {
            case .open: [.active, .inactive, .inactive, .active]
            case .closed: [.inactive, .active, hasState ? .active : .inactive, .inactive]
            case nil: [.inactive, .inactive, .inactive, .inactive]
            }
    }

    subscript(_ unit: Unit) -> UnitStatus {
        UnitStatus(active[unit.rawValue], hasJob: jobs[unit.rawValue] != nil)
    }

    /// A target as the mover sees it.
    func listed(_ unit: Unit) -> ListedTarget {
        ListedTarget(active[unit.rawValue], isStarting: jobs[unit.rawValue].map { $0 == .start })
    }

    /// Whether something of it may run, in this model's own words: it would share a mistake of `ActiveState.isDown`.
    func isUp(_ unit: Unit) -> Bool { ![.inactive, .failed].contains(active[unit.rawValue]) }

    private func job(_ unit: Unit) -> Job? { jobs[unit.rawValue] }

    private mutating func set(_ unit: Unit, _ state: ActiveState) {
        guard active[unit.rawValue] != state else { return }
        active[unit.rawValue] = state
        hasChanged(unit)
    }

    private mutating func set(_ unit: Unit, _ job: Job?) {
        guard jobs[unit.rawValue] != job else { return }
        jobs[unit.rawValue] = job
        hasChanged(unit)
    }

    private mutating func hasChanged(_ unit: Unit) {
        if !unsignalled.contains(unit) { unsignalled.append(unit) }
    }

    // MARK: Calls

    /// Queues the jobs of `systemctl start` of a target. A job in the other direction is replaced.
    mutating func start(_ target: Unit) {
        if target == .maintenance { start(.closed) }
        set(target, .start)
        for other in [Unit.open, .closed, .maintenance] where Self.conflict(target, other) {
            if isUp(other) || job(other) != nil { stop(other) }
        }
        guard target == .open else { return }
        if self[.web] != UnitStatus(.active) { set(.web, .start) }
    }

    private static func conflict(_ one: Unit, _ other: Unit) -> Bool {
        (one == .open) != (other == .open)
    }

    /// Queues the jobs of `systemctl stop`. The attached unit stops with the open target.
    mutating func stop(_ unit: Unit) {
        if isUp(unit) || job(unit) != nil { set(unit, .stop) }
        if unit == .open, isUp(.web) || job(.web) != nil { set(.web, .stop) }
    }

    // MARK: Jobs

    /// The units whose job, or whose start or stop, can go on now.
    var runnable: [Unit] { Unit.allCases.filter(canRun) }

    private func canRun(_ unit: Unit) -> Bool {
        switch (unit, job(unit)) {
        case (.web, nil): !self[.web].isAtRest
        case (_, nil): false
        case (.web, .stop): true
        // A stop goes on to its end, whatever job follows.
        case (.web, .start): job(.open) == nil || active[unit.rawValue] == .deactivating
        case (.open, .stop): job(.web) != .stop && active[Unit.web.rawValue] != .deactivating
        case (.open, .start): job(.closed) != .stop && job(.maintenance) != .stop
        case (.closed, .start): job(.open) == nil
        case (.maintenance, .start): job(.open) == nil && job(.closed) == nil
        case (.closed, .stop), (.maintenance, .stop): true
        }
    }

    /// Does the next part of a job.
    mutating func run(_ unit: Unit) {
        switch (unit, job(unit)) {
        case (.web, .stop) where active[unit.rawValue] == .deactivating: endStop(.inactive)
        case (.web, .stop) where isUp(.web): set(.web, .deactivating)
        case (.web, .start): runStart()
        case (.web, nil): set(.web, self[.web].active == .activating ? .active : .inactive)
        case (_, let job):
            set(unit, job == .start ? .active : .inactive)
            set(unit, nil as Job?)
        }
    }

    private mutating func runStart() {
        switch active[Unit.web.rawValue] {
        case .activating: set(.web, .active)
        // A start waits until the stop is over.
        case .deactivating: return set(.web, .inactive)
        case .active, .reloading: break
        case .inactive, .failed, .maintenance:
            isStartRefused = !isMarked
            if isMarked {
                result = "success"
                return set(.web, .activating)
            }
        }
        set(.web, nil as Job?)
    }

    private mutating func endStop(_ state: ActiveState, result: String = "success") {
        self.result = result
        set(.web, state)
        set(.web, nil as Job?)
    }

    /// Sends a signal: the unit is no longer unsignalled.
    mutating func signal(_ unit: Unit) -> UnitStatus {
        unsignalled.removeAll { $0 == unit }
        return self[unit]
    }

    // MARK: Disturbances

    /// The unit fails while it starts or runs.
    mutating func failUnit() {
        isSpoilt = true
        endStop(.failed, result: "exit-code")
    }

    /// The unit does not stop within its limit, and systemd kills it.
    mutating func killUnit() { endStop(.failed, result: "timeout") }

    /// Somebody types `systemctl cancel`.
    mutating func cancel(_ unit: Unit) {
        if unit == .web { isSpoilt = true }
        set(unit, nil as Job?)
    }

    /// Somebody starts the attached unit. The start waits for the jobs of the open target, and changes none.
    mutating func startUnit() { set(.web, .start) }

    /// The unit may be down behind an open gate from now on.
    mutating func spoil() { isSpoilt = true }

    /// Somebody stops the attached unit.
    mutating func stopUnit() {
        isSpoilt = true
        stop(.web)
    }

    /// The unit runs behind a closed gate: somebody has started it past systemd's conditions.
    mutating func smuggleUnit() { set(.web, .active) }
}
