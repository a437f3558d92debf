import CivilTime
import ControlSocket
import Decision
import EventLoop
import Files
import Gates
import Glibc
import JSON
import POSIX
import Storage
import SystemdUnits

/// A drill is two orders and a table: it closes the gate, waits until the daemon's files say that every unit is down,
/// tries starts by hand, opens the gate, and waits again. Systemd is asked once behind the closed gate and once at the
/// end, so that the table does not rest on the daemon's word alone. After any problem the gate is opened again before
/// anything else.
final class DrillRun {
    private let order: DrillOrder
    private let published: PublishedFiles
    private let loop: EventLoop
    private let stream: PublishedStream
    private var handlers: Signals?
    /// When signals came that ask the drill to end. After the second one it waits for nothing.
    private var signals: [Boottime] = []
    /// The signal that broke the drill off; nil if none did.
    private(set) var interruption: Int32?
    private var report: DrillReport
    /// When the order is over by itself.
    private var expiry = Boottime(microseconds: 0)
    /// Since when the gate is seen held up; nil while it is not.
    private var stuckSince: Boottime?
    private var progress = (since: Boottime(microseconds: 0), last: "")

    private struct Problem: Error, CustomStringConvertible { let description: String }

    init(_ plan: DrillPlan, by order: DrillOrder, on loop: EventLoop, _ published: PublishedFiles)
        throws
    {
        self.order = order
        self.published = published
        self.loop = loop
        stream = try PublishedStream(of: [plan.service], in: published, on: loop)
        report = DrillReport(
            service: plan.service, state: plan.state, limit: order.limit, units: plan.units)
    }

    /// Runs the drill to its end. Throws if the daemon does not take the order.
    func run() throws -> DrillReport {
        StandardError.outliveReaders()
        handlers = try Signals(loop, [SIGINT, SIGTERM, SIGHUP, SIGQUIT]) { [unowned self] signal in
            interruption = interruption ?? signal.number
            signals.append(now)
            stream.wake()
        }
        printError(
            "closing '\(order.service)' as \(report.state.rawValue), for at most "
                + "\(order.limit.wholeSeconds) s")
        let began = now
        expiry = began + order.limit
        try order.send()
        attempt(awaitClosed)
        attempt { try observe(at: \.closed) }
        attempt {
            try release()
            try awaitOpen(since: began)
        }
        attempt { try observe(at: \.ended) }
        report.isOpen = report.closedFor != nil && status == .open
        report.isInterrupted = !signals.isEmpty || report.problem != nil
        return report
    }

    private var now: Boottime { loop.now.boot }

    /// Does a step. A step that fails is the problem of the drill, which goes on with the next one.
    private func attempt(_ step: () throws -> Void) {
        do { try step() } catch {
            record("\((error as? Problem)?.description ?? CommandFailure(error).message)")
        }
    }

    private func record(_ problem: String) { report.problem = report.problem ?? problem }

    /// Whether a drill that was broken off has waited long enough: the host may be shutting down.
    private var isImpatient: Bool {
        signals.count > 1 || signals.first.map { now - $0 >= .seconds(5) } ?? false
    }

    // MARK: What the files say

    /// How the service stands; nil while no daemon says it.
    private var status: OrderStatus? {
        guard let state = readable({ try published.state(of: order.service) }) ?? nil,
            published.isCurrent(state, at: loop.now.wall)
        else { return nil }
        return order.status(in: state.object)
    }

    /// What the gate is; nil while it is not known. Throws if it is held up for longer than a restart of the mover.
    private func gate(_ decided: Gate) throws(Problem) -> GateStatus.Actual? {
        let gate = published.gate(of: order.service, beside: decided, at: loop.now.wall)
        let isStuck = gate.isHeldUp && gate.published?.unitProblems.isEmpty ?? false
        stuckSince = isStuck ? stuckSince ?? now : nil
        if let stuckSince, now - stuckSince >= .seconds(3) {
            throw Problem(description: gate.problem ?? "its gate is stuck")
        }
        return gate.published.flatMap { $0.wanted == decided ? $0.actual : nil }
    }

    private func rows() throws -> [UnitName: JSON.Object] {
        let rows = try published.units(of: order.service)
        return rows.reduce(into: [:]) { all, row in
            UnitName(row.text("name")).map { all[$0] = row }
        }
    }

    /// Notes how each unit stands, by the files and by systemd.
    private func observe(at moment: WritableKeyPath<DrilledUnit, DrilledUnit.Sighting?>) throws {
        let rows = try rows()
        let seen = try askSystemd { [report] in try $0.list(report.units.map(\.name)) }
        for index in report.units.indices {
            let name = report.units[index].name
            // A unit that is not loaded is down.
            report.units[index][keyPath: moment] = DrilledUnit.Sighting(
                active: seen[name]?.active ?? .inactive, row: rows[name] ?? [:])
        }
    }

    /// Asks systemd. A connection that is lost, as by its upgrade, is made anew for a while, unless a signal has come.
    private func askSystemd<Answer>(
        _ question: (BlockingSystemdClient) throws -> Answer
    ) throws -> Answer {
        let last = now + .seconds(5)
        return try stream.until {
            do {
                return try question(try BlockingSystemdClient(on: loop))
            } catch let error as BlockingSystemdClient.Failure {
                guard !error.isDenied, now < last, signals.isEmpty else { throw error }
            }
            stream.checkAgain(after: Self.pauseDuration)
            return nil
        }
    }

    /// Lets time pass before the next try.
    private func pause() throws {
        let count = signals.count
        _ = try stream.until(Self.pauseDuration) { signals.count > count ? () : nil }
    }

    /// How long to wait for what no file says.
    private static let pauseDuration: Duration = .milliseconds(200)

    /// Says which units are awaited: nothing in the first second, then whenever that changes.
    private func showProgress(_ units: [(name: String, active: String?)]) {
        let awaited = units.map { "\($0.name) (\($0.active ?? "not known"))" }
        let list = Array(awaited.prefix(6)).andMore(of: awaited.count).joined(separator: ", ")
        guard !list.isEmpty, list != progress.last, now - progress.since >= .seconds(1) else {
            return
        }
        printError("after \((now - progress.since).wholeSeconds) s waiting for \(list)")
        progress.last = list
    }

    // MARK: Closing

    /// Waits until everything is down, and tries starts by hand. Returns when the closed gate stands, when the order is
    /// over, and when a signal has come.
    private func awaitClosed() throws {
        progress = (now, "")
        try stream.until {
            guard signals.isEmpty, now < expiry, try isInForce() else { return () }
            // The file of the gate is written after those of its units.
            let isDecided = try gate(.closed) != nil
            let rows = try rows()
            let up = report.units.filter { unit in
                unit.kind == .attached && rows[unit.name]?.hasStopped != true
            }
            let late = report.units.filter { unit in
                unit.kind == .state && rows[unit.name]?.isAsWanted != true
            }
            if isDecided, up.isEmpty, try areDown() {
                if !report.wasAllDown {
                    report.wasAllDown = true
                    try tryStarts()
                }
                let haveFailed = late.allSatisfy { rows[$0.name]?["problem"]?.string != nil }
                if haveFailed, try isSeenAlike(rows) { return () }
            }
            showProgress((up + late).map { ($0.name.text, rows[$0.name]?["active"]?.string) })
            stream.checkAgain(after: Self.pauseDuration)
            return nil
        }
    }

    /// Whether systemd shows the attached units down too. The daemon may not have heard yet of one that was started
    /// just before the drill.
    private func areDown() throws -> Bool {
        let names = report.units.filter { $0.kind == .attached }.map(\.name)
        let seen = try askSystemd { try $0.list(names) }
        return names.allSatisfy { seen[$0]?.isAtRestDown ?? true }
    }

    /// Whether systemd shows the units of the forced state as the rows do: one may have failed since they were written.
    private func isSeenAlike(_ rows: [UnitName: JSON.Object]) throws -> Bool {
        let names = report.units.filter { $0.kind == .state }.map(\.name)
        guard !names.isEmpty else { return true }
        let seen = try askSystemd { try $0.list(names) }
        return names.allSatisfy { name in
            let published = rows[name].flatMap { ActiveState(rawValue: $0.text("active")) }
            return published?.isDown == (seen[name]?.active ?? .inactive).isDown
        }
    }

    /// Whether the order is in force. If it has ended before its time, that is a problem.
    private func isInForce() throws(Problem) -> Bool {
        // The order ends by itself, so that a silent daemon does not end the drill.
        guard let status, status != .ordered else { return true }
        // The end is stored in whole seconds: a daemon that was restarted ends the order early.
        guard !status.isLost, expiry - now <= .seconds(1) else {
            throw Problem(description: status.problem)
        }
        return false
    }

    /// Tries to start each unit by hand. The order must be in force before and after that: a unit that the
    /// reopened gate has started was not started by hand.
    private func tryStarts() throws {
        for (index, unit) in report.units.enumerated() where unit.kind == .attached {
            for _ in 1...Self.mostTries {
                let left = expiry - now
                guard signals.isEmpty, try isInForce(), left > .milliseconds(500) else { return }
                let start = try askSystemd {
                    try $0.tryStart(unit.name, within: min(left, .seconds(5)))
                }
                guard now < expiry, try isInForce() else { return }
                report.units[index].handStart = start
                // A job that another one replaces proves nothing. The service is down meanwhile, so that this ends.
                guard start == .unclear("canceled") else { break }
                try pause()
            }
        }
    }

    /// How often a start by hand is tried that ends as canceled.
    private static let mostTries = 3

    // MARK: Opening

    /// Ends the order. Throws if the gate is not the drill's to open.
    private func release() throws {
        printError("opening '\(order.service)' again")
        // The order ends by itself, but that is the daemon's work too.
        let limit = max(expiry - now, .zero) + Self.daemonTimeLimit
        var isAbsencePrinted = false
        let status = try stream.until(limit) { () throws -> OrderStatus? in
            do { return try order.release() } catch is SocketError {
                if !isAbsencePrinted {
                    printError(
                        "waiting: killswitchd does not answer, and only it opens the gate again")
                }
                isAbsencePrinted = true
            }
            if isImpatient { throw Self.silence(of: order) }
            stream.checkAgain(after: Self.pauseDuration)
            return nil
        }
        guard let status else { throw Self.silence(of: order) }
        if status.isLost { throw Problem(description: status.problem) }
        if status != .open { printError("min_closed keeps the gate closed for a moment") }
    }

    private static func silence(of order: DrillOrder) -> Problem {
        Problem(
            description:
                "killswitchd does not answer; the gate stays closed until killswitchd runs "
                + "again or you type 'killswitchctl open \(order.service) --without-daemon'")
    }

    /// Waits until the daemon calls the gate open: then each unit is up, or has had its time. One that nobody starts
    /// may get a job from elsewhere a moment later.
    private func awaitOpen(since began: Boottime) throws {
        progress = (now, "")
        var openSince: Boottime?
        let end: Void? = try stream.until(.seconds(600)) {
            if isImpatient {
                throw Problem(
                    description:
                        "the gate is still closed, and opens by itself when min_closed is over")
            }
            let status = status
            if let status, status.isLost { throw Problem(description: status.problem) }
            let actual = status == .open ? try gate(.open) : nil
            if report.closedFor == nil, actual == .opening || actual == .open {
                report.closedFor = now - began
            }
            if report.closedFor != nil, !signals.isEmpty { return () }
            openSince = actual == .open ? openSince ?? now : nil
            let awaited = try published.units(of: order.service).filter {
                !$0.isAsWanted && $0["problem"] == .null && $0.strings("held_by").isEmpty
            }
            if let openSince {
                let areUp = try awaited.isEmpty && areDependentsUp()
                if areUp || now - openSince >= .seconds(1) { return () }
            }
            showProgress(awaited.map { ($0.text("name"), $0["active"]?.string) })
            stream.checkAgain(after: Self.pauseDuration)
            return nil
        }
        guard end == nil else { return }
        throw Problem(description: "the gate has not opened: see 'systemctl status killswitchd'")
    }

    private func areDependentsUp() throws -> Bool {
        let dependents = report.units.filter(\.isDependent).map(\.name)
        guard !dependents.isEmpty else { return true }
        let seen = try askSystemd { try $0.list(dependents) }
        return dependents.allSatisfy { seen[$0]?.isAtRestUp ?? false }
    }

    /// How long the daemon may be absent, or may take to answer.
    private static let daemonTimeLimit: Duration = .seconds(60)
}
