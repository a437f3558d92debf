import CivilTime
import Control
import Decision
import EventLoop
import Faults
import Gates
import Glibc
import JSON
import Records

/// Performs the effects of the drill's machine: asks systemd and the daemon, waits, and prints the
/// progress. It decides nothing.
final class Drilling {
    private let plan: DrillPlan
    private let order: DrillOrder
    private var manager: SystemManager
    private let loop: EventLoop
    private let published: PublishedFiles
    private let driver: MachineDriver<(event: DrillEvent, time: DrillTime)>
    private var findings: DrillFindings?
    private var signals: Signals?
    /// The signal that broke the drill off; nil if none did.
    private(set) var interruption: Int32?

    /// A drill that gives `order`, and follows it by systemd and the daemon's files.
    init(
        _ plan: DrillPlan, by order: DrillOrder, with manager: SystemManager,
        on loop: EventLoop, _ published: PublishedFiles
    ) {
        self.plan = plan
        self.order = order
        self.manager = manager
        self.loop = loop
        driver = MachineDriver(on: loop)
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
        // An effect waits for its outcome, and lets the loop run meanwhile: no turn of the loop can perform it.
        while !driver.isEmpty {
            try driver.handleEvents { event, time in
                for effect in machine.handle(event, at: time) { try perform(effect) }
            }
        }
        guard let findings else { throw CommandFailure(.no, "the drill could not be finished") }
        return findings
    }

    private var now: DrillTime { DrillTime(boot: loop.now.boot, uptime: EventLoop.uptime) }

    private func post(_ event: DrillEvent) { driver.post((event, now)) }

    /// Performs one effect. Throws only if the order to close is not taken.
    private func perform(_ effect: DrillEffect) throws {
        switch effect {
        case .order:
            try order.give()
            post(.ordered)
        case .readStanding: post(standing())
        case .list: attempt { .listed(try ask { try $0.list(plan.followed) }) }
        case .read(let units): read(units)
        case .tryStart(let unit, let limit):
            attempt { .tried(try manager.tryStart(unit, within: limit)) }
        case .readUnitProblems: readUnitProblems()
        case .release: release()
        case .wait(let time):
            attempt {
                try pause(time)
                return .woke
            }
        case .tell(let line): printError(line)
        case .finish(let findings): self.findings = findings
        }
    }

    private func attempt(_ body: () throws -> DrillEvent) {
        do { post(try body()) } catch { post(.failed(CommandFailure(error).message)) }
    }

    /// The state of the service, by the daemon's file.
    private func standing() -> DrillEvent {
        let unknown = DrillEvent.standingUnknown(problem: published.isOutOfDate(order.service))
        do {
            guard let state = try published.state(of: order.service),
                published.isCurrent(state, at: loop.now.wall)
            else { return unknown }
            let gate = ShownGate(
                state.gate, published.gate(of: order.service), at: loop.now.wall)
            let standing = order.standing(in: state.object)
            // No unit has failed behind a gate that does not move.
            if let wanted = state.gate, let report = gate.published, report.isStuck(on: wanted),
                report.unitProblems.isEmpty
            {
                return .gateStuck(problem: gate.problem ?? "its gate is stuck", standing)
            }
            return .standing(standing)
        } catch {
            return unknown
        }
    }

    private func read(_ units: [UnitName]) {
        var snapshots: [UnitName: UnitSnapshot] = [:]
        let problem = failure {
            for unit in units { snapshots[unit] = try ask { try $0.snapshot(of: unit) } }
        }
        post(.read(snapshots, problem: problem))
    }

    private func readUnitProblems() {
        var problems: [UnitName: String] = [:]
        let problem = failure {
            for row in try published.units(of: order.service) {
                guard let name = UnitName(row.text("name")) else { continue }
                problems[name] = row["problem"]?.string?.printable
            }
        }
        post(.unitProblems(problems, problem: problem))
    }

    /// The message of the error that ends `work`; nil if it succeeds.
    private func failure(of work: () throws -> Void) -> String? {
        do {
            try work()
            return nil
        } catch {
            return CommandFailure(error).message
        }
    }

    private func release() {
        do {
            post(.released(try order.release()))
        } catch is SocketError {
            post(.daemonUnreachable)
        } catch {
            post(.failed(CommandFailure(error).message))
        }
    }

    /// Lets time pass. A signal ends it.
    private func pause(_ time: Duration) throws {
        let deadline = loop.now.boot + time
        while loop.now.boot < deadline, driver.isEmpty {
            try loop.runOnce(deadline - loop.now.boot)
        }
    }

    /// Asks systemd. A connection that is lost, as when systemd or the bus is replaced by a new
    /// version, is made anew for a while, unless a signal has come.
    private func ask<Answer>(_ question: (SystemManager) throws -> Answer) throws -> Answer {
        let last = loop.now.boot + Self.systemdMayTake
        while true {
            do {
                return try question(manager)
            } catch let error as SystemManager.Failure {
                guard !error.isDenied, loop.now.boot < last, interruption == nil else {
                    throw error
                }
            }
            try pause(.milliseconds(200))
            do {
                manager = try SystemManager(on: loop)
                for unit in plan.units { try manager.keep(unit.name) }
            } catch {
                // If systemd is still unreachable, the next call fails too.
                continue
            }
        }
    }

    private static let systemdMayTake: Duration = .seconds(5)
}
