import CivilTime
import Decision
import EventLoop
import Faults
import Files
import Glibc

/// A drill while it runs. Whatever goes wrong after the order was given, the gate is opened again before
/// anything else is done about it.
final class Drilling {
    let rehearsal: Rehearsal
    let order: DrillOrder
    private var manager: UnitManager
    let loop: EventLoop
    let published: Published
    var courses: [UnitName: UnitCourse] = [:]
    var times: RehearsalTimes
    /// What is wrong beyond single units.
    var problem: String?
    /// When the order is over by itself.
    private(set) var expiry: Boottime
    var patience: DrillPatience
    private var signals: Signals?
    /// The signal that broke it off.
    private(set) var interruption: Int32?
    private var interruptedAt: Boottime?
    /// Whether a second one came: now nothing is waited for.
    private(set) var isHurried = false

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
            interruptedAt = interruptedAt ?? loop.now.boot
        }
        for unit in rehearsal.units { try manager.keep(unit.name) }
        tell(
            "closing '\(order.service)' as \(order.state.rawValue), for at most "
                + "\(order.limit.wholeSeconds) s")
        times.ordered = EventLoop.uptime
        expiry = loop.now.boot + order.limit
        patience = DrillPatience(since: loop.now.boot)
        try order.give()
        attempt { () throws(CommandFailure) in try awaitStops() }
        times.limit = min(times.limit, EventLoop.uptime - times.ordered)
        attempt { () throws(CommandFailure) in try noteClosed(rehearsal.units) }
        noteComplaints()
        tell("opening '\(order.service)' again")
        if open() { attempt { () throws(CommandFailure) in try awaitStarts() } }
        return report()
    }

    /// Waits until everything is down, and tries to start it.
    private func awaitStops() throws(CommandFailure) {
        while interruption == nil, loop.now.boot < expiry, isOrdered() {
            let seen = try list()
            try noteClosed(rehearsal.units.filter { $0.kind != .state && seen.isDown($0.name) })
            if rehearsal.isAllDown(seen) {
                if !times.wasAllDown {
                    times.wasAllDown = true
                    try tryStarts()
                }
                if rehearsal.isClosed(seen) { return }
            }
            sayWhatIsWaitedFor(rehearsal.units.filter { !$0.hasStopped(seen[$0.name]) }, seen)
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

    /// Whether a drill that was broken off has waited long enough: somebody wants it to end, perhaps
    /// the host that shuts down, and its order ends by itself.
    var isImpatient: Bool {
        isHurried || interruptedAt.map { loop.now.boot - $0 >= Self.brokenOffMayTake } ?? false
    }

    private static let brokenOffMayTake: Duration = .seconds(5)

    /// Asks systemd. A connection that is lost, as when systemd or the bus is replaced by a new version, is
    /// made anew, for a while; not where a signal came.
    func ask<Answer>(
        _ question: (UnitManager) throws(CommandFailure) -> Answer
    ) throws(CommandFailure) -> Answer {
        let last = loop.now.boot + Self.systemdMayTake
        while true {
            do {
                return try question(manager)
            } catch {
                guard error.status == .unreachable, loop.now.boot < last, interruption == nil else {
                    throw error
                }
            }
            wait(.milliseconds(200))
            do {
                manager = try UnitManager(on: loop)
                for unit in rehearsal.units { try manager.keep(unit.name) }
            } catch {
                // The next question finds out whether it is worse than that.
                continue
            }
        }
    }

    private static let systemdMayTake: Duration = .seconds(5)
    private static let handStartTakes: Duration = .milliseconds(500)
    private static let handStartLimit: Duration = .seconds(5)
}

extension [UnitName: Seen] {
    /// Whether a unit is down and stays so.
    fileprivate func isDown(_ unit: UnitName) -> Bool {
        self[unit].map { $0.active.isDown && !$0.hasJob } ?? true
    }
}
