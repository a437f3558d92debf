import CivilTime
import Decision
import EventLoop
import Files
import Glibc
import JSON
import Records

/// A drill while it runs. Whatever goes wrong after the order was given, the gate is opened again before
/// anything else is done about it.
final class Drilling {
    private let rehearsal: Rehearsal
    private let order: DrillOrder
    private let manager: UnitManager
    private let loop: EventLoop
    private let published: Published
    private var signals: Signals?
    private var courses: [UnitName: UnitCourse] = [:]
    private var times: RehearsalTimes
    /// What is wrong beyond single units.
    private var problem: String?
    /// When the gate opens by itself.
    private var expiry: Boottime
    private var patience: DrillPatience
    /// The signal that broke it off.
    private(set) var interruption: Int32?
    private var isHurried = false

    init(
        _ rehearsal: Rehearsal, by order: DrillOrder, with manager: UnitManager,
        on loop: EventLoop, _ published: Published
    ) {
        self.rehearsal = rehearsal
        self.order = order
        self.manager = manager
        self.loop = loop
        self.published = published
        times = RehearsalTimes(ordered: EventLoop.uptime, limit: order.limit)
        expiry = loop.now.boot + order.limit
        patience = DrillPatience(since: loop.now.boot)
    }

    /// Closes, looks, opens and looks. Throws where the gate was not closed at all.
    func run() throws -> DrillReport {
        StandardError.outliveReaders()
        signals = try Signals(loop, [SIGINT, SIGTERM, SIGHUP, SIGQUIT]) { [unowned self] number in
            isHurried = interruption != nil
            interruption = interruption ?? number
        }
        tell(
            "closing '\(order.service)' as \(order.state.rawValue), for at most "
                + "\(order.limit.wholeSeconds) s")
        for unit in rehearsal.units { try manager.keep(unit.name) }
        times.ordered = EventLoop.uptime
        expiry = loop.now.boot + order.limit
        try order.give()
        attempt { () throws(CommandFailure) in try close() }
        times.limit = min(times.limit, EventLoop.uptime - times.ordered)
        attempt { () throws(CommandFailure) in try noteClosed(rehearsal.units) }
        noteComplaints()
        tell("opening '\(order.service)' again")
        if open() { attempt { () throws(CommandFailure) in try awaitStarts() } }
        attempt { () throws(CommandFailure) in try noteEnded() }
        noteComplaints()
        times.wasInterrupted = interruption != nil
        return DrillReport(
            rehearsal, courses, times, problem: problem, closedFor: try closedFor(),
            isInterrupted: interruption != nil)
    }

    /// Waits until everything is down, and tries to start it.
    private func close() throws(CommandFailure) {
        while interruption == nil, loop.now.boot < expiry, isOrdered() {
            let seen = try manager.list(rehearsal.followed)
            let moving = rehearsal.units.filter { !$0.hasStopped(seen[$0.name]) }
            try noteClosed(rehearsal.units.filter { $0.kind != .state && seen.isDown($0.name) })
            if rehearsal.isAllDown(seen) {
                if !times.wasAllDown {
                    times.wasAllDown = true
                    try tryStarts()
                }
                if rehearsal.isClosed(seen) { return }
            }
            sayWhatIsWaitedFor(moving, seen)
            wait()
        }
    }

    /// Only when all are down: a start while the target of the open gate still stops would call that off.
    private func tryStarts() throws(CommandFailure) {
        for unit in rehearsal.attached {
            guard interruption == nil, isOrdered() else { return }
            let left = expiry - loop.now.boot
            guard left > Self.handStartTakes else { return }
            let result = try manager.tryStart(unit.name, within: min(left, Self.handStartLimit))
            // What started because the gate has opened meanwhile was not started by hand.
            guard loop.now.boot < expiry, isOrdered() else { return }
            courses[unit.name, default: UnitCourse()].handStart = result
        }
    }

    /// Ends the order, and says whether the gate opens.
    private func open() -> Bool {
        var isAbsenceSaid = false
        let last = max(expiry, loop.now.boot) + Self.daemonMayTake
        while true {
            let asked = EventLoop.uptime
            do {
                switch try order.release() {
                case .open:
                    times.reopened = asked
                    return true
                case .ordered, .kept:
                    return awaitMinClosed()
                case .forced(let words):
                    return fail("somebody else has the service now: \(words)")
                case .closed(let cause):
                    return fail("the gate is closed for real now: \(cause)")
                }
            } catch  where error.status == .unreachable {
                if !isAbsenceSaid {
                    tell("killswitchd does not answer, waiting for it: it opens the gate again")
                }
                isAbsenceSaid = true
                guard loop.now.boot < last, !isHurried else {
                    return fail(
                        "killswitchd does not answer; the gate opens when it is there again, or "
                            + "with 'systemctl start killswitch-open@\(order.service).target'")
                }
                wait(.milliseconds(200))
            } catch {
                return fail(error.message ?? "the order could not be ended")
            }
        }
    }

    /// The gate opens later by the service's own policy. A drill that was broken off does not wait.
    private func awaitMinClosed() -> Bool {
        tell("min_closed keeps the gate closed for a moment")
        let patience = loop.now.boot + Self.interruptedMayTake
        var lastClosed = EventLoop.uptime
        while interruption == nil || loop.now.boot < patience && !isHurried {
            let looked = EventLoop.uptime
            switch standing() {
            case .kept, .ordered:
                lastClosed = looked
                wait()
            case nil: return fail("'\(order.service)' has no state any more")
            case .open:
                // Units may have been started between the two looks.
                times.reopened = lastClosed
                return true
            case .forced(let words):
                return fail("somebody else has the service now: \(words)")
            case .closed(let cause):
                return fail("the gate is closed for real now: \(cause)")
            }
        }
        return fail("the gate is still closed, and opens by itself when min_closed is over")
    }

    /// Waits until every unit is as before, or has had its time.
    private func awaitStarts() throws(CommandFailure) {
        patience = DrillPatience(since: loop.now.boot)
        let began = loop.now.boot
        var openSince: Boottime?
        while !isHurried {
            let seen = try manager.list(rehearsal.followed)
            let now = loop.now.boot
            if openSince == nil, rehearsal.isOpen(seen) { openSince = now }
            switch standing() {
            case .forced(let words): return note("somebody else has the service now: \(words)")
            case .closed(let cause): return note("the gate is closed for real now: \(cause)")
            case nil, .ordered, .kept, .open: break
            }
            let waited = openSince.map { now - $0 }
            let awaited = rehearsal.units.filter { unit in
                waited.map { !unit.hasSettled(seen[unit.name], after: $0) } ?? true
            }
            if let waited {
                let isOver = awaited.allSatisfy { waited >= limit(of: $0) }
                if isOver || interruption != nil { return }
            } else if now - began >= (interruption == nil ? gateLimit : Self.interruptedMayTake) {
                return note("the gate has not opened: see 'systemctl status killswitchd'")
            }
            sayWhatIsWaitedFor(awaited, seen)
            wait()
        }
    }

    /// How long a unit may take after the gate has opened.
    private func limit(of unit: RehearsedUnit) -> Duration {
        let isLate = courses[unit.name]?.closed.map { !unit.hasStopped($0.seen) } ?? false
        switch unit.kind {
        case .attached, .dependent: return unit.startLimit + (isLate ? unit.stopLimit : .zero)
        case .state: return unit.stopLimit
        }
    }

    /// What has to stop first may take its time.
    private var gateLimit: Duration {
        rehearsal.units.map(\.stopLimit).reduce(.zero, max) + Self.daemonMayTake
    }

    private static let step: Duration = .milliseconds(50)
    private static let handStartTakes: Duration = .milliseconds(500)
    private static let handStartLimit: Duration = .seconds(5)
    private static let daemonMayTake: Duration = .seconds(60)
    private static let interruptedMayTake: Duration = .seconds(10)
}

extension [UnitName: Seen] {
    /// Whether a unit is down and stays so.
    fileprivate func isDown(_ unit: UnitName) -> Bool {
        self[unit].map { $0.active.isDown && !$0.hasJob } ?? true
    }
}

extension Drilling {
    /// Whether the order stands. A file that cannot be read does not say that it is over.
    private func isOrdered() -> Bool {
        switch standing() {
        case nil, .ordered: return true
        case .forced(let words):
            note("somebody else has the service now: \(words)")
        case .open, .kept, .closed:
            // The end is stored in whole seconds: a daemon that was started anew is early.
            if expiry - loop.now.boot <= .seconds(1) { break }
            note("somebody has ended the drill's order before its time")
        }
        return false
    }

    private func standing() -> DrillOrder.Standing? {
        do {
            return try published.state(of: order.service).map { order.standing(in: $0.object) }
        } catch {
            return nil
        }
    }

    /// Asks how these units stand behind the closed gate, each once: a moment later it may be open.
    private func noteClosed(_ units: [RehearsedUnit]) throws(CommandFailure) {
        for unit in units where courses[unit.name]?.closed == nil {
            courses[unit.name, default: UnitCourse()].closed = try manager.account(of: unit.name)
        }
    }

    private func noteEnded() throws(CommandFailure) {
        for unit in rehearsal.units {
            courses[unit.name, default: UnitCourse()].ended = try manager.account(of: unit.name)
        }
    }

    /// What the daemon says is wrong with units. Where it says nothing, systemd has.
    private func noteComplaints() {
        attempt { () throws(CommandFailure) in
            for row in try published.units(of: order.service) {
                guard let name = row["name"]?.string.flatMap({ UnitName($0) }),
                    let complaint = row["problem"]?.string
                else { continue }
                courses[name]?.complaint = complaint.printable
            }
        }
    }

    private func closedFor() throws -> Duration? {
        guard let reopened = times.reopened, let target = rehearsal.openTarget else { return nil }
        let account = try manager.account(of: target)
        // One that waited for a unit until the gate opened again was never down.
        guard let opened = account.upSince, account.seen.active == .active else { return nil }
        return max(opened, reopened) - times.ordered
    }

    private func attempt(_ body: () throws(CommandFailure) -> Void) {
        do {
            try body()
        } catch {
            note(error.message ?? "the drill could not be finished")
        }
    }

    /// The first problem is the one that explains the others.
    private func note(_ words: String) {
        problem = problem ?? words
    }

    private func fail(_ words: String) -> Bool {
        note(words)
        return false
    }

    private func wait(_ time: Duration = step) {
        let hadCome = interruption
        let deadline = loop.now.boot + time
        while loop.now.boot < deadline, interruption == hadCome {
            do {
                try loop.runOnce(deadline - loop.now.boot)
            } catch {
                return note("\(error)")
            }
        }
    }

    private func sayWhatIsWaitedFor(_ units: [RehearsedUnit], _ seen: [UnitName: Seen]) {
        let words = units.map { unit in
            "\(unit.name) (\(seen[unit.name]?.active.rawValue ?? "not loaded"))"
        }
        if let line = patience.line(words, at: loop.now.boot) { tell(line) }
    }

    private func tell(_ line: String) { printError("killswitchctl: \(line)") }
}
