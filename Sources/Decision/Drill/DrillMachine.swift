import CivilTime

/// Takes a drill from the order that closes the gate to the findings: events in, effects out. After
/// any problem the gate is opened again before the drill does anything else.
package struct DrillMachine: Sendable {
    /// How far the drill is. A failed effect, a signal, the end of the order and another order lead
    /// on to the next phase, never back.
    private enum Phase: Hashable, Sendable {
        /// Leaves for `ordering`.
        case idle
        /// The order is given. Leaves for `closing` when the daemon has taken it.
        case ordering
        /// Waits until everything is down, and tries starts by hand. Leaves for `recording` when
        /// the closed gate stands, when the order is over, and when something goes wrong.
        case closing
        /// Reads the units that were not read behind the closed gate, and then `units.json`. Leaves
        /// for `releasing`.
        case recording
        /// Ends the order. Leaves for `opening` if that opens the gate, for `keptClosed` if
        /// `min_closed` does not let it, and for `finishing` if the gate is not the drill's to
        /// open.
        case releasing(Release)
        /// Waits for `min_closed` since it was last seen closed. Leaves for `opening` when the gate
        /// is open, and for `finishing` if something goes wrong.
        case keptClosed(since: Uptime, lookedAt: Uptime)
        /// Waits until every unit is as before. Leaves for `finishing` when all are, or have had
        /// their time.
        case opening(DrillOpening)
        /// Reads how everything stands at the end. Leaves for `done`.
        case finishing
        /// The findings are told.
        case done
    }

    private struct Release: Hashable, Sendable {
        /// How long a daemon that does not answer is waited for.
        let last: Boottime
        var askedAt: Uptime
        var isAbsenceTold = false
    }

    private let plan: DrillPlan
    private let limit: Duration
    private var phase = Phase.idle
    private var record: DrillRecord
    /// When the order is over by itself.
    private let expiry: Boottime
    private var closing: DrillClosing
    /// Since when the gate is seen stuck, and why; nil while it is not.
    private var stuck: (since: Boottime, problem: String)?

    /// A drill that gives its order at `now`, and closes the gate for `limit` at most.
    package init(_ plan: DrillPlan, limit: Duration, at now: DrillTime) {
        self.plan = plan
        self.limit = limit
        record = DrillRecord(of: plan, orderedAt: now.uptime, limit: limit)
        expiry = now.boot + limit
        closing = DrillClosing(of: plan, until: expiry, at: now.boot)
    }

    /// Handles an event at `now`, and returns the next effects. An event that the phase does not
    /// wait for changes nothing.
    package mutating func handle(_ event: DrillEvent, at now: DrillTime) -> [DrillEffect] {
        let event = weigh(event, at: now)
        record.note(event.problem)
        if case .gateStuck = event { record.noteStuckGate() }
        switch (phase, event) {
        case (_, .interrupted):
            record.noteInterruption(at: now.boot)
            return []
        case (.idle, .started): return giveOrder()
        case (.ordering, .ordered):
            phase = .closing
            return closing.look(record, at: now) ?? endClosing(at: now)
        case (.closing, _): return closing.handle(event, &record, at: now) ?? endClosing(at: now)
        case (.recording, .read(let snapshots, _)):
            record.noteClosed(snapshots)
            return [.readUnitProblems]
        case (.recording, .unitProblems(let problems, _)):
            record.noteProblems(problems)
            return release(at: now)
        case (.releasing(let release), .released(let standing)):
            return take(released: standing, askedAt: release.askedAt, at: now)
        case (.releasing(let release), .daemonUnreachable): return awaitDaemon(release, at: now)
        case (.releasing(var release), .woke):
            release.askedAt = now.uptime
            phase = .releasing(release)
            return [.release]
        case (.keptClosed(let since, let lookedAt), .standing(let standing)):
            return take(standing, closedSince: since, lookedAt: lookedAt, at: now)
        case (.keptClosed, .standingUnknown(let problem)): return finish(problem)
        case (.keptClosed(let since, _), .woke): return lookWhileKept(since: since, at: now)
        case (.opening(var opening), .listed(let seen)):
            opening.take(list: seen, at: now.boot)
            phase = .opening(opening)
            return [.readStanding]
        case (.opening(let opening), .standing(let standing)):
            return judge(opening, standing, at: now)
        case (.opening(let opening), .standingUnknown): return judge(opening, nil, at: now)
        case (.opening(let opening), .woke): return lookWhileOpening(opening, at: now)
        case (.releasing, .failed), (.keptClosed, .failed), (.opening, .failed),
            (.keptClosed, .gateStuck), (.opening, .gateStuck):
            return finish()
        case (.finishing, .read(let snapshots, _)):
            record.noteEnd(snapshots)
            return [.readUnitProblems]
        case (.finishing, .unitProblems(let problems, _)):
            record.noteProblems(problems)
            return [.readStanding]
        case (.finishing, .standing(let standing)): return end(isOpen: standing == .open)
        case (.finishing, .standingUnknown), (.finishing, .gateStuck): return end(isOpen: false)
        default: return []
        }
    }

    /// A stuck gate may still move: dbus or polkit may be restarting.
    private mutating func weigh(_ event: DrillEvent, at now: DrillTime) -> DrillEvent {
        switch event {
        case .gateStuck(let problem, let standing):
            let since = stuck?.since ?? now.boot
            stuck = (since, problem)
            return now.boot - since < Self.gateMayTake ? .standing(standing) : event
        case .standing:
            stuck = nil
            return event
        default: return event
        }
    }

    // MARK: Closing

    private mutating func giveOrder() -> [DrillEffect] {
        phase = .ordering
        return [
            .tell(
                "closing '\(plan.service)' as \(plan.state.rawValue), for at most "
                    + "\(limit.wholeSeconds) s"),
            .order,
        ]
    }

    private mutating func endClosing(at now: DrillTime) -> [DrillEffect] {
        record.noteEndOfClosing(at: now.uptime)
        if let stuck {
            record.note(stuck.problem)
            record.noteStuckGate()
        }
        phase = .recording
        let missing = record.missing(plan.units)
        return [missing.isEmpty ? .readUnitProblems : .read(missing)]
    }

    // MARK: Opening

    private mutating func release(at now: DrillTime) -> [DrillEffect] {
        phase = .releasing(
            Release(last: max(expiry, now.boot) + Self.daemonMayTake, askedAt: now.uptime))
        return [.tell("opening '\(plan.service)' again"), .release]
    }

    /// The order has ended; it was asked for at `askedAt`.
    private mutating func take(
        released standing: DrillStanding, askedAt: Uptime, at now: DrillTime
    ) -> [DrillEffect] {
        switch standing {
        case .open: return beginOpening(at: now, since: askedAt)
        case .ordered, .kept:
            return [.tell("min_closed keeps the gate closed for a moment")]
                + lookWhileKept(since: now.uptime, at: now)
        case .forced, .closed: return finish(standing.problem)
        }
    }

    /// Waits for a daemon that does not answer: the order ends by itself, but that is the daemon's
    /// work too.
    private mutating func awaitDaemon(_ release: Release, at now: DrillTime) -> [DrillEffect] {
        var told: [DrillEffect] = []
        if !release.isAbsenceTold {
            told = [
                .tell("waiting: killswitchd does not answer, and only it opens the gate again")
            ]
        }
        guard now.boot < release.last, !record.isImpatient(at: now.boot) else {
            return told
                + finish(
                    "killswitchd does not answer; the gate stays closed until killswitchd runs again or "
                        + "you type 'killswitchctl unlock \(plan.service)'")
        }
        var release = release
        release.isAbsenceTold = true
        phase = .releasing(release)
        return told + [.wait(.milliseconds(200))]
    }

    /// The gate opens later by the service's own policy. A drill that was broken off does not wait
    /// for long.
    private mutating func lookWhileKept(since: Uptime, at now: DrillTime) -> [DrillEffect] {
        guard !record.isImpatient(at: now.boot) else {
            return finish("the gate is still closed, and opens by itself when min_closed is over")
        }
        phase = .keptClosed(since: since, lookedAt: now.uptime)
        return [.readStanding]
    }

    private mutating func take(
        _ standing: DrillStanding, closedSince since: Uptime, lookedAt: Uptime, at now: DrillTime
    ) -> [DrillEffect] {
        switch standing {
        case .kept, .ordered:
            phase = .keptClosed(since: lookedAt, lookedAt: lookedAt)
            return [.wait(Self.pause)]
        // Units may have been started between the two looks.
        case .open: return beginOpening(at: now, since: since)
        case .forced, .closed: return finish(standing.problem)
        }
    }

    private mutating func beginOpening(at now: DrillTime, since: Uptime) -> [DrillEffect] {
        record.noteReopening(at: since)
        return lookWhileOpening(DrillOpening(of: plan, at: now.boot), at: now)
    }

    private mutating func lookWhileOpening(
        _ opening: DrillOpening, at now: DrillTime
    ) -> [DrillEffect] {
        guard !record.isImpatient(at: now.boot) else { return finish() }
        phase = .opening(opening)
        return [.list]
    }

    private mutating func judge(
        _ opening: DrillOpening, _ standing: DrillStanding?, at now: DrillTime
    ) -> [DrillEffect] {
        var opening = opening
        let next = opening.judge(standing, &record, at: now.boot)
        phase = .opening(opening)
        return next ?? finish()
    }

    // MARK: The end

    /// Ends the drill; `problem` is the cause, nil at the regular end.
    private mutating func finish(_ problem: String? = nil) -> [DrillEffect] {
        record.note(problem)
        phase = .finishing
        return [.read(plan.units.map(\.name) + [plan.openTarget].compactMap(\.self))]
    }

    private mutating func end(isOpen: Bool) -> [DrillEffect] {
        phase = .done
        return [.finish(record.findings(isOpen: isOpen))]
    }

    /// How often everything is looked at.
    static let pause: Duration = .milliseconds(50)
    /// How long the daemon may be absent, or may take to answer.
    static let daemonMayTake: Duration = .seconds(60)
    /// How long a gate may be stuck.
    private static let gateMayTake: Duration = .seconds(3)
}

extension DrillEvent {
    /// Why systemd or the daemon could not be asked; nil if they answered. An unknown standing is no
    /// problem as long as the order ends by itself.
    fileprivate var problem: String? {
        switch self {
        case .read(_, let problem), .unitProblems(_, let problem): problem
        case .failed(let problem), .gateStuck(let problem, _): problem
        default: nil
        }
    }
}
