import CivilTime
import Decision
import EventLoop
import Faults
import Files
import Glibc
import JSON
import Records

/// Performs the effects of the drill's machine: asks systemd and the daemon, waits, and prints the
/// progress. It decides nothing: the result of an effect is queued as an event.
final class Drilling {
    private let plan: DrillPlan
    private let order: DrillOrder
    private var manager: UnitManager
    private let loop: EventLoop
    private let published: PublishedFiles
    private var events: [(event: DrillEvent, time: DrillTime)] = []
    private var signals: Signals?
    /// The signal that broke the drill off; nil if none did.
    private(set) var interruption: Int32?

    /// A drill that gives `order`, and follows it by systemd and the daemon's files.
    init(
        _ plan: DrillPlan, by order: DrillOrder, with manager: UnitManager,
        on loop: EventLoop, _ published: PublishedFiles
    ) {
        self.plan = plan
        self.order = order
        self.manager = manager
        self.loop = loop
        self.published = published
    }

    /// Runs the drill to its end. Throws if the gate was not closed at all.
    func run() throws -> DrillFindings {
        StandardError.outliveReaders()
        signals = try Signals(loop, [SIGINT, SIGTERM, SIGHUP, SIGQUIT]) { [unowned self] number in
            interruption = interruption ?? number
            post(.interrupted)
        }
        for unit in plan.units { try manager.keep(unit.name) }
        var machine = DrillMachine(plan, limit: order.limit, at: now)
        post(.started)
        while !events.isEmpty {
            let (event, time) = events.removeFirst()
            for effect in machine.handle(event, at: time) {
                if case .finish(let findings) = effect { return findings }
                try perform(effect)
            }
        }
        throw CommandFailure(.no, Self.unfinished)
    }

    private var now: DrillTime { DrillTime(boot: loop.now.boot, uptime: EventLoop.uptime) }

    private func post(_ event: DrillEvent) { events.append((event, now)) }

    /// Performs one effect. Throws only if the order to close is not taken.
    private func perform(_ effect: DrillEffect) throws(CommandFailure) {
        switch effect {
        case .order:
            try order.give()
            post(.ordered)
        case .readStanding: post(standing())
        case .list:
            attempt { () throws(CommandFailure) in
                .listed(
                    try ask { manager throws(CommandFailure) in
                        try manager.list(plan.followed)
                    })
            }
        case .read(let units): read(units)
        case .tryStart(let unit, let limit):
            attempt { () throws(CommandFailure) in
                .tried(try manager.tryStart(unit, within: limit))
            }
        case .readUnitProblems: readUnitProblems()
        case .release: release()
        case .wait(let time):
            attempt { () throws(CommandFailure) in
                try pause(time)
                return .woke
            }
        case .tell(let line): printError("killswitchctl: \(line)")
        case .finish: break
        }
    }

    private func attempt(_ body: () throws(CommandFailure) -> DrillEvent) {
        do {
            post(try body())
        } catch {
            post(.failed(error.message ?? Self.unfinished))
        }
    }

    /// The state of the service, by the daemon's file.
    private func standing() -> DrillEvent {
        let unknown = DrillEvent.standingUnknown(problem: published.isOutOfDate(order.service))
        do {
            guard let state = try published.state(of: order.service),
                state.isCurrent(at: loop.now.wall)
            else { return unknown }
            return .standing(order.standing(in: state.object))
        } catch {
            return unknown
        }
    }

    private func read(_ units: [UnitName]) {
        var snapshots: [UnitName: UnitSnapshot] = [:]
        do {
            for unit in units {
                snapshots[unit] = try ask { manager throws(CommandFailure) in
                    try manager.snapshot(of: unit)
                }
            }
            post(.read(snapshots, problem: nil))
        } catch {
            post(.read(snapshots, problem: error.message ?? Self.unfinished))
        }
    }

    private func readUnitProblems() {
        var problems: [UnitName: String] = [:]
        do {
            for row in try published.units(of: order.service) {
                guard let name = row["name"]?.string.flatMap({ UnitName($0) }),
                    let problem = row["problem"]?.string
                else { continue }
                problems[name] = problem.printable
            }
            post(.unitProblems(problems, problem: nil))
        } catch {
            post(.unitProblems(problems, problem: error.message ?? Self.unfinished))
        }
    }

    private func release() {
        do {
            post(.released(try order.release()))
        } catch  where error.status == .unreachable {
            post(.daemonUnreachable)
        } catch {
            post(.failed(error.message ?? "the order could not be ended"))
        }
    }

    /// Lets time pass. A signal ends it.
    private func pause(_ time: Duration) throws(CommandFailure) {
        let deadline = loop.now.boot + time
        while loop.now.boot < deadline, events.isEmpty {
            do {
                try loop.runOnce(deadline - loop.now.boot)
            } catch {
                throw CommandFailure(.no, "\(error)")
            }
        }
    }

    /// Asks systemd. A connection that is lost, as when systemd or the bus is replaced by a new
    /// version, is made anew for a while, unless a signal has come.
    private func ask<Answer>(
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
            try pause(.milliseconds(200))
            do {
                manager = try UnitManager(on: loop)
                for unit in plan.units { try manager.keep(unit.name) }
            } catch {
                // If systemd is still unreachable, the next call fails too.
                continue
            }
        }
    }

    private static let unfinished = "the drill could not be finished"
    private static let systemdMayTake: Duration = .seconds(5)
}
