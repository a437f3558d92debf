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
        switch event {
        case .started: start()
        case .ordered: beginClosing(at: now)
        case .standing(let standing): take(standing, problem: nil, at: now)
        case .standingUnknown(let problem): take(nil, problem: problem, at: now)
        case .listed(let seen): take(list: seen, at: now)
        case .read(let snapshots, let problem): take(snapshots, problem, at: now)
        case .tried(let start): take(start, at: now)
        case .unitProblems(let problems, let problem): take(problems, problem, at: now)
        case .released(let standing): take(released: standing, at: now)
        case .daemonUnreachable: awaitDaemon(at: now)
        case .woke: wake(at: now)
        case .interrupted: interrupt(at: now)
        case .failed(let problem): fail(problem, at: now)
        }
    }

    // MARK: Closing

    private mutating func start() -> [DrillEffect] {
        phase = .ordering
        return [
            .tell(
                "closing '\(plan.service)' as \(plan.state.rawValue), for at most "
                    + "\(limit.wholeSeconds) s"),
            .order,
        ]
    }

    private mutating func beginClosing(at now: DrillTime) -> [DrillEffect] {
        guard phase == .ordering else { return [] }
        phase = .closing
        return proceed(closing.look(record, at: now), at: now)
    }

    /// Goes on with the closing, or ends it.
    private mutating func proceed(_ next: [DrillEffect]?, at now: DrillTime) -> [DrillEffect] {
        next ?? endClosing(at: now)
    }

    private mutating func endClosing(at now: DrillTime) -> [DrillEffect] {
        record.noteEndOfClosing(at: now.uptime)
        phase = .recording
        let missing = record.missing(plan.units)
        return [missing.isEmpty ? .readUnitProblems : .read(missing)]
    }

    private mutating func take(_ start: ManualStart, at now: DrillTime) -> [DrillEffect] {
        phase == .closing ? proceed(closing.take(start, at: now), at: now) : []
    }

    // MARK: Opening

    private mutating func release(at now: DrillTime) -> [DrillEffect] {
        phase = .releasing(
            Release(last: max(expiry, now.boot) + Self.daemonMayTake, askedAt: now.uptime))
        return [.tell("opening '\(plan.service)' again"), .release]
    }

    private mutating func take(released standing: DrillStanding, at now: DrillTime)
        -> [DrillEffect]
    {
        guard case .releasing(let release) = phase else { return [] }
        switch standing {
        case .open: return beginOpening(at: now, since: release.askedAt)
        case .ordered, .kept:
            return [.tell("min_closed keeps the gate closed for a moment")]
                + lookWhileKept(since: now.uptime, at: now)
        case .forced, .closed: return finish(standing.problem)
        }
    }

    /// Waits for a daemon that does not answer: the order ends by itself, but that is the daemon's
    /// work too.
    private mutating func awaitDaemon(at now: DrillTime) -> [DrillEffect] {
        guard case .releasing(var release) = phase else { return [] }
        let told: [DrillEffect] =
            release.isAbsenceTold
            ? [] : [.tell("killswitchd does not answer, waiting for it: it opens the gate again")]
        release.isAbsenceTold = true
        phase = .releasing(release)
        guard now.boot < release.last, !record.isImpatient(at: now.boot) else {
            return told
                + finish(
                    "killswitchd does not answer; the gate opens when it is there again, or with "
                        + "'killswitchctl unlock \(plan.service)'")
        }
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

    private mutating func beginOpening(at now: DrillTime, since: Uptime) -> [DrillEffect] {
        record.noteReopening(at: since)
        return lookWhileOpening(DrillOpening(of: plan, at: now.boot), at: now)
    }

    private mutating func lookWhileOpening(_ opening: DrillOpening, at now: DrillTime)
        -> [DrillEffect]
    {
        guard !record.isImpatient(at: now.boot) else { return finish() }
        phase = .opening(opening)
        return [.list]
    }

    /// Ends the drill; `problem` is the cause, nil at the regular end.
    private mutating func finish(_ problem: String? = nil) -> [DrillEffect] {
        record.note(problem)
        phase = .finishing
        return [.read(plan.units.map(\.name) + [plan.openTarget].compactMap(\.self))]
    }

    // MARK: Answers, in every phase

    /// The daemon's file was read; `standing` is nil if the file is missing, out of date or
    /// unreadable.
    private mutating func take(
        _ standing: DrillStanding?, problem: String?, at now: DrillTime
    ) -> [DrillEffect] {
        switch phase {
        case .closing: return proceed(closing.take(standing, &record, at: now), at: now)
        case .keptClosed(let since, let lookedAt):
            switch standing {
            case .kept?, .ordered?:
                phase = .keptClosed(since: lookedAt, lookedAt: lookedAt)
                return [.wait(Self.pause)]
            // Units may have been started between the two looks.
            case .open?: return beginOpening(at: now, since: since)
            case .forced?, .closed?: return finish(standing?.problem)
            case nil: return finish(problem)
            }
        case .opening(var opening):
            let next = opening.judge(standing, record, at: now.boot)
            phase = .opening(opening)
            switch next {
            case .goOn(let effects): return effects
            case .over(let problem): return finish(problem)
            }
        case .finishing:
            phase = .done
            return [.finish(record.findings(isOpen: standing == .open))]
        case .idle, .ordering, .recording, .releasing, .done:
            return []
        }
    }

    private mutating func take(list seen: [UnitName: UnitStatus], at now: DrillTime)
        -> [DrillEffect]
    {
        switch phase {
        case .closing: return proceed(closing.take(list: seen, &record, at: now), at: now)
        case .opening(var opening):
            opening.take(list: seen, at: now.boot)
            phase = .opening(opening)
            return [.readStanding]
        case .idle, .ordering, .recording, .releasing, .keptClosed, .finishing, .done: return []
        }
    }

    private mutating func take(
        _ snapshots: [UnitName: UnitSnapshot], _ problem: String?, at now: DrillTime
    ) -> [DrillEffect] {
        record.note(problem)
        switch phase {
        case .closing:
            record.noteClosed(snapshots)
            return proceed(
                problem == nil ? closing.takeAccounts(&record, at: now) : nil, at: now)
        case .recording:
            record.noteClosed(snapshots)
            return [.readUnitProblems]
        case .finishing:
            record.noteEnd(snapshots)
            return [.readUnitProblems]
        case .idle, .ordering, .releasing, .keptClosed, .opening, .done: return []
        }
    }

    private mutating func take(
        _ problems: [UnitName: String], _ problem: String?, at now: DrillTime
    ) -> [DrillEffect] {
        record.note(problem)
        record.noteProblems(problems)
        switch phase {
        case .recording: return release(at: now)
        case .finishing: return [.readStanding]
        case .idle, .ordering, .closing, .releasing, .keptClosed, .opening, .done: return []
        }
    }

    private mutating func wake(at now: DrillTime) -> [DrillEffect] {
        switch phase {
        case .closing: return proceed(closing.wake(record, at: now), at: now)
        case .releasing(var release):
            release.askedAt = now.uptime
            phase = .releasing(release)
            return [.release]
        case .keptClosed(let since, _): return lookWhileKept(since: since, at: now)
        case .opening(let opening): return lookWhileOpening(opening, at: now)
        case .idle, .ordering, .recording, .finishing, .done: return []
        }
    }

    private mutating func interrupt(at now: DrillTime) -> [DrillEffect] {
        record.noteInterruption(at: now.boot)
        return []
    }

    private mutating func fail(_ problem: String, at now: DrillTime) -> [DrillEffect] {
        record.note(problem)
        switch phase {
        case .closing: return endClosing(at: now)
        case .releasing, .keptClosed, .opening: return finish()
        case .idle, .ordering, .recording, .finishing, .done: return []
        }
    }

    /// How often everything is looked at.
    static let pause: Duration = .milliseconds(50)
    /// How long the daemon may be absent, or may take to answer.
    static let daemonMayTake: Duration = .seconds(60)
}
