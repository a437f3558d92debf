import CivilTime
import Decision
import EventLoop
import JSON
import Records

extension Drilling {
    /// How the service stands, by the daemon's file; nil where that is not there or out of date.
    func standing() -> DrillOrder.Standing? {
        do {
            guard let state = try published.state(of: order.service),
                state.isCurrent(at: loop.now.wall)
            else { return nil }
            return order.standing(in: state.object)
        } catch {
            return nil
        }
    }

    /// Whether the order stands. Not to know is no reason to end a drill that ends by itself.
    func isOrdered() -> Bool {
        guard let standing = standing(), standing != .ordered else { return true }
        // The end is stored in whole seconds: a daemon that was started anew is early.
        let isOver = !standing.isTakenAway && expiry - loop.now.boot <= .seconds(1)
        if !isOver { note(standing.words) }
        return false
    }

    /// Asks how these units stand behind the closed gate, each once: a moment later it may be open.
    func noteClosed(_ units: [RehearsedUnit]) throws(CommandFailure) {
        for unit in units where courses[unit.name]?.closed == nil {
            courses[unit.name, default: UnitCourse()].closed = try account(of: unit.name)
        }
    }

    /// What the daemon says is wrong with units, after what systemd has said.
    func noteComplaints() {
        attempt { () throws(CommandFailure) in
            for row in try published.units(of: order.service) {
                guard let name = row["name"]?.string.flatMap({ UnitName($0) }),
                    let complaint = row["problem"]?.string
                else { continue }
                courses[name]?.complaint = complaint.printable
            }
        }
    }

    /// How everything stands at the end.
    func report() -> DrillReport {
        var closedFor: Duration?
        attempt { () throws(CommandFailure) in
            for unit in rehearsal.units {
                courses[unit.name, default: UnitCourse()].ended = try account(of: unit.name)
            }
            closedFor = try timeClosed()
        }
        noteComplaints()
        times.wasInterrupted = interruption != nil || problem != nil
        return DrillReport(
            rehearsal, courses, times, problem: problem, closedFor: closedFor,
            isOpen: standing() == .open)
    }

    /// How all units and targets stand.
    func list() throws(CommandFailure) -> [UnitName: Seen] {
        try ask { manager throws(CommandFailure) in try manager.list(rehearsal.followed) }
    }

    private func account(of unit: UnitName) throws(CommandFailure) -> UnitAccount {
        try ask { manager throws(CommandFailure) in try manager.account(of: unit) }
    }

    private func timeClosed() throws(CommandFailure) -> Duration? {
        guard let reopened = times.reopened, let target = rehearsal.openTarget else { return nil }
        let account = try account(of: target)
        // One that waited for a unit until the gate opened again was never down.
        guard let opened = account.upSince, account.seen.active == .active else { return nil }
        return max(opened, reopened) - times.ordered
    }

    func attempt(_ body: () throws(CommandFailure) -> Void) {
        do {
            try body()
        } catch {
            note(error.message ?? "the drill could not be finished")
        }
    }

    /// The first problem is the one that explains the others.
    func note(_ words: String) {
        problem = problem ?? words
    }

    /// The same, for a question that is answered by that.
    func fail(_ words: String) -> Bool {
        note(words)
        return false
    }

    /// Lets a moment pass; a signal ends it.
    func wait(_ time: Duration = .milliseconds(50)) {
        let before = interruption
        let deadline = loop.now.boot + time
        while loop.now.boot < deadline, interruption == before {
            do {
                try loop.runOnce(deadline - loop.now.boot)
            } catch {
                return note("\(error)")
            }
        }
    }

    func sayWhatIsWaitedFor(_ units: [RehearsedUnit], _ seen: [UnitName: Seen]) {
        let words = units.map { unit in
            "\(unit.name) (\(seen[unit.name]?.active.rawValue ?? "not loaded"))"
        }
        if let line = patience.line(words, at: loop.now.boot) { tell(line) }
    }

    /// Progress, for people and logs.
    func tell(_ line: String) { printError("killswitchctl: \(line)") }
}
