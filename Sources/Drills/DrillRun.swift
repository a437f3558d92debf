import CivilTime
import Decision
import Gates

/// A drill from the order to the findings. After any problem the gate is opened again before anything else.
package struct DrillRun {
    private let plan: DrillPlan
    private let limit: Duration
    private let world: any DrillWorld
    private var observations: [UnitName: UnitObservations] = [:]
    private var times: DrillTimes
    /// The first problem of the drill itself: it explains the others.
    private var problem: String?
    /// Whether systemd did not move the gate: nothing is known of how long it was closed.
    private var wasGateStuck = false
    /// When the order is over by itself.
    private let expiry: Boottime
    /// Since when the gate is seen stuck, and why; nil while it is not.
    private var stuck: (since: Boottime, problem: String)?

    /// A drill that gives its order now, and closes the gate for `limit` at most.
    package init(_ plan: DrillPlan, limit: Duration, in world: any DrillWorld) {
        self.plan = plan
        self.limit = limit
        self.world = world
        times = DrillTimes(ordered: world.uptime, limit: limit)
        expiry = world.now + limit
    }

    /// Runs the drill to its end. Throws if the daemon does not take the order.
    package mutating func run() throws -> DrillFindings {
        world.printLine(
            "closing '\(plan.service)' as \(plan.state.rawValue), for at most "
                + "\(limit.wholeSeconds) s")
        try world.order()
        do { try close() } catch { record(problem: error.description) }
        recordClosed()
        do {
            times.reopened = try release()
            try awaitReturn()
        } catch {
            record(problem: error.description)
        }
        return findings()
    }

    private var now: Boottime { world.now }

    private var wasInterrupted: Bool { !world.signals.isEmpty }

    /// Whether a drill that was broken off has waited long enough: the host may be shutting down.
    private var isImpatient: Bool {
        world.signals.count > 1 || world.signals.first.map { now - $0 >= .seconds(5) } ?? false
    }

    /// How the service stands. A stuck gate may still move: the mover may be restarting.
    private mutating func orderStatus() -> DrillView {
        let view = world.orderStatus()
        switch view {
        case .unknown: break
        case .status: stuck = nil
        case .stuck(let problem, let status):
            let since = stuck?.since ?? now
            stuck = (since, problem)
            guard now - since >= Self.gateTimeLimit else { return .status(status) }
            record(problem: problem)
            wasGateStuck = true
        }
        return view
    }

    private mutating func record(problem: String?) { self.problem = self.problem ?? problem }

    private func pause(_ progress: String?) throws(DrillProblem) {
        if let progress { world.printLine(progress) }
        try world.wait(Self.pause)
    }

    // MARK: Closing

    /// Waits until everything is down, notes how each unit stands then, and tries starts by hand. Returns when
    /// the closed gate stands, when the order is over, and when a signal has come.
    private mutating func close() throws(DrillProblem) {
        var progress = DrillProgress(since: now)
        while !wasInterrupted, now < expiry, try isInForce() {
            let seen = try world.list(plan.followed)
            let down = plan.units.filter {
                $0.kind != .state && (seen[$0.name]?.isAtRestDown ?? true)
            }
            guard readClosed(down) else { return }
            if plan.isAllDown(seen) {
                // A start while the target of the open gate still stops would call the stop off.
                if !times.wasAllDown {
                    times.wasAllDown = true
                    try tryStarts()
                }
                if plan.isClosed(seen) { return }
            }
            let awaited = plan.units.filter { !$0.hasStopped(seen[$0.name]) }
            try pause(progress.line(awaited, seen, at: now))
        }
    }

    /// Whether the order is in force. If it has ended before its time, that is a problem.
    private mutating func isInForce() throws(DrillProblem) -> Bool {
        switch orderStatus() {
        case .stuck(let problem, _): throw DrillProblem(problem)
        // The order ends by itself, so that an unknown standing does not end the drill.
        case .unknown, .status(.ordered): return true
        case .status(let status):
            // The end is stored in whole seconds: a daemon that was restarted ends the order early.
            let isOver = !status.isLost && expiry - now <= .seconds(1)
            if !isOver { record(problem: status.problem) }
            return false
        }
    }

    /// Reads those of the units that were not read behind the closed gate; returns whether that succeeded.
    private mutating func readClosed(_ units: [DrilledUnit]) -> Bool {
        let missing = units.map(\.name).filter { observations[$0]?.closed == nil }
        guard !missing.isEmpty else { return true }
        let (snapshots, problem) = world.read(missing)
        record(problem: problem)
        for (name, snapshot) in snapshots {
            observations[name, default: UnitObservations()].closed = snapshot
        }
        return problem == nil
    }

    /// Tries to start each unit by hand. The order must be in force before and after that: a unit that the
    /// reopened gate has started was not started by hand.
    private mutating func tryStarts() throws(DrillProblem) {
        for unit in plan.attached {
            guard !wasInterrupted, try isInForce() else { return }
            let left = expiry - now
            guard left > Self.startDuration else { return }
            let start = try world.tryStart(unit.name, within: min(left, Self.startLimit))
            guard now < expiry, try isInForce() else { return }
            observations[unit.name, default: UnitObservations()].handStart = start
        }
    }

    private mutating func recordClosed() {
        times.limit = min(times.limit, world.uptime - times.ordered)
        if let stuck {
            record(problem: stuck.problem)
            wasGateStuck = true
        }
        _ = readClosed(plan.units)
        readProblems()
    }

    private mutating func readProblems() {
        let (problems, problem) = world.unitProblems()
        record(problem: problem)
        for (name, problem) in problems { observations[name]?.reportedProblem = problem }
    }

    // MARK: Opening

    /// Ends the order, and returns since when the gate may open. Throws if the gate is not the drill's to open.
    private mutating func release() throws(DrillProblem) -> Uptime {
        world.printLine("opening '\(plan.service)' again")
        // The order ends by itself, but that is the daemon's work too.
        let last = max(expiry, now) + Self.daemonTimeLimit
        var isAbsencePrinted = false
        while true {
            let asked = world.uptime
            switch try world.release() {
            case .open: return asked
            case .ordered, .kept: return try awaitMinClosed()
            case .some(let status): throw DrillProblem(status.problem)
            case nil: break
            }
            if !isAbsencePrinted {
                world.printLine(
                    "waiting: killswitchd does not answer, and only it opens the gate again")
            }
            isAbsencePrinted = true
            guard now < last, !isImpatient else {
                throw DrillProblem(
                    "killswitchd does not answer; the gate stays closed until killswitchd runs again or "
                        + "you type 'killswitchctl unlock \(plan.service)'")
            }
            try world.wait(.milliseconds(200))
        }
    }

    /// The gate opens later by the service's own policy. A drill that was broken off does not wait for long.
    /// Returns when the gate was last seen closed: units may have been started between the two looks.
    private mutating func awaitMinClosed() throws(DrillProblem) -> Uptime {
        world.printLine("min_closed keeps the gate closed for a moment")
        var since = world.uptime
        while !isImpatient {
            let looked = world.uptime
            switch orderStatus() {
            case .status(.open): return since
            case .status(.kept), .status(.ordered): since = looked
            case .status(let status): throw DrillProblem(status.problem)
            case .unknown(let problem), .stuck(let problem, _): throw DrillProblem(problem)
            }
            try world.wait(Self.pause)
        }
        throw DrillProblem("the gate is still closed, and opens by itself when min_closed is over")
    }

    /// Waits until every unit is as before, or has had its time.
    private mutating func awaitReturn() throws(DrillProblem) {
        let began = now
        var progress = DrillProgress(since: began)
        /// Since when the target of the open gate is active.
        var openSince: Boottime?
        while !isImpatient {
            let seen = try world.list(plan.followed)
            if openSince == nil, plan.isOpen(seen) { openSince = now }
            switch orderStatus() {
            case .status(let status) where status.isLost: throw DrillProblem(status.problem)
            case .stuck(let problem, _): throw DrillProblem(problem)
            case .status, .unknown: break
            }
            var awaited = plan.units
            if let openSince {
                let time = now - openSince
                awaited.removeAll { $0.hasSettled(seen[$0.name], after: time) }
                if wasInterrupted || awaited.allSatisfy({ time >= limit(of: $0) }) { return }
            } else if now - began >= gateLimit {
                throw DrillProblem("the gate has not opened: see 'systemctl status killswitchd'")
            }
            try pause(progress.line(awaited, seen, at: now))
        }
    }

    private func limit(of unit: DrilledUnit) -> Duration {
        guard unit.kind != .state else { return unit.stopLimit }
        let closed = observations[unit.name]?.closed
        let isLate = closed.map { !unit.hasStopped($0.seen) } ?? false
        return unit.startLimit + (isLate ? unit.stopLimit : .zero)
    }

    /// How long the gate may take: a unit that has to stop before it opens may take its time.
    private var gateLimit: Duration {
        plan.units.map(\.stopLimit).reduce(.zero, max) + Self.daemonTimeLimit
    }

    private mutating func findings() -> DrillFindings {
        let (snapshots, problem) = world.read(
            plan.units.map(\.name) + [plan.openTarget].compactMap(\.self))
        record(problem: problem)
        for unit in plan.units {
            guard let snapshot = snapshots[unit.name] else { continue }
            observations[unit.name, default: UnitObservations()].ended = snapshot
        }
        let closedFor = plan.openTarget.flatMap { snapshots[$0] }.flatMap(closedFor)
        readProblems()
        let isOpen = orderStatus() == .status(.open)
        times.wasInterrupted = wasInterrupted || self.problem != nil
        return DrillFindings(
            service: plan.service, state: plan.state,
            outcomes: plan.units.map {
                $0.outcome(observations[$0.name] ?? UnitObservations(), times)
            }, problem: self.problem, closedFor: closedFor, isOpen: isOpen,
            isInterrupted: times.wasInterrupted)
    }

    /// How long the gate was closed, by its target; nil if that was never down, as it waited for a unit.
    private func closedFor(_ target: UnitSnapshot) -> Duration? {
        guard !wasGateStuck, let reopened = times.reopened, target.seen.active == .active,
            let opened = target.upSince
        else { return nil }
        return max(opened, reopened) - times.ordered
    }

    private static let pause: Duration = .milliseconds(50)
    /// How long the daemon may be absent, or may take to answer.
    private static let daemonTimeLimit: Duration = .seconds(60)
    private static let gateTimeLimit: Duration = .seconds(3)
    /// A start by hand is not tried if less than this is left of the order.
    private static let startDuration: Duration = .milliseconds(500)
    private static let startLimit: Duration = .seconds(5)
}
