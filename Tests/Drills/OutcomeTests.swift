import CivilTime
import Decision
import Drills
import Gates
import Support
import Testing

/// What a drill makes of what it saw of a unit. The order is given at 100 s, and the gate opens at 110 s.
@Suite struct OutcomeTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        var kind = DrilledUnit.Kind.attached
        var isStarted = true
        var was = ActiveState.active
        var isTriggered = false
        var closed: UnitSnapshot? = .down(at: 101.5)
        var handStart: ManualStart? = .refused
        var ended: UnitSnapshot? = .up(at: 110.25)
        var reportedProblem: String?
        var wasAllDown = true
        var wasInterrupted = false
        var isOpened = true
        /// Stop, refused, start, and what is said.
        let shows: String
        var testDescription: String { name }
    }

    private func line(_ example: Case) throws -> String {
        var before = UnitSnapshot(UnitStatus(example.was))
        before.stopLimit = .seconds(30)
        before.upSince = Uptime(microseconds: 50_000_000)
        before.downSince = Uptime(microseconds: 40_000_000)
        if example.isTriggered { before.triggeredBy = ["web.socket"] }
        let unit = DrilledUnit(
            name: "web.service", kind: example.kind, isStarted: example.isStarted, before: before)
        var observations = UnitObservations()
        observations.closed = example.closed
        observations.handStart = example.handStart
        observations.ended = example.ended
        observations.reportedProblem = example.reportedProblem
        var times = DrillTimes(ordered: Uptime(microseconds: 100_000_000), limit: .seconds(10))
        if example.isOpened { times.reopened = Uptime(microseconds: 110_000_000) }
        times.wasAllDown = example.wasAllDown
        times.wasInterrupted = example.wasInterrupted
        let outcome = unit.outcome(observations, times)
        let milliseconds = { (time: Duration?) in
            time.map { "\($0.microseconds / 1000)" } ?? "-"
        }
        let shop: ServiceName = "shop"
        let words =
            outcome.failures.map { "FAILED \($0.sentence(of: unit.name, in: shop))" }
            + [outcome.remark].compactMap(\.self)
        return
            ([
                milliseconds(outcome.stop),
                outcome.isRefused.map { $0 ? "refused" : "taken" } ?? "-",
                milliseconds(outcome.start),
            ] + words).joined(separator: " | ")
    }

    static let attached = [
        Case(name: "all went well", shows: "1500 | refused | 250"),
        Case(
            name: "it was down and is started", was: .inactive, closed: .down(at: 40),
            shows: "- | refused | 250 | was stopped before; the opening started it"),
        Case(
            name: "it was down and stays so", isStarted: false, was: .inactive,
            closed: .down(at: 40), ended: .down(at: 40), shows: "- | refused | -"),
        Case(
            name: "something else keeps it down", was: .inactive, closed: .down(at: 40),
            ended: .down(at: 40), shows: "- | refused | -"),
        Case(
            name: "it failed long ago and nobody starts it", isStarted: false, was: .failed,
            closed: .down(at: 40, .failed), ended: .down(at: 40, .failed),
            shows: "- | refused | -"),
        Case(
            name: "it does not stop in time",
            closed: UnitSnapshot(UnitStatus(.deactivating, hasJob: true)),
            handStart: nil, ended: .up(at: 113, downAt: 112), wasAllDown: false,
            shows: "12000 | - | 3000 | FAILED still running after 10 s"),
        Case(
            name: "it does not stop, and does not come back",
            closed: UnitSnapshot(UnitStatus(.deactivating, hasJob: true)), handStart: nil,
            ended: .down(at: 112, .failed, "timeout"), wasAllDown: false,
            shows: "12000 | - | - | FAILED still running after 10 s | "
                + "FAILED was not started again: the gate does not start it"),
        Case(
            name: "it is killed", closed: .down(at: 105, .failed, "timeout"),
            shows: "5000 | refused | 250 | FAILED did not stop within its limit of 30 s, and "
                + "systemd killed it"),
        Case(
            name: "it was killed long ago", was: .failed, closed: .down(at: 40, .failed, "timeout"),
            shows: "- | refused | 250 | was stopped before; the opening started it"),
        Case(
            name: "it stops with an error", closed: .down(at: 101, .failed, "exit-code"),
            shows: "1000 | refused | 250 | stopped with result 'exit-code'"),
        Case(
            name: "a start by hand is taken", handStart: .accepted,
            shows:
                "1500 | taken | 250 | FAILED a start by hand succeeded although the gate was closed"
        ),
        Case(
            name: "a start by hand ends strangely", handStart: .unclear("canceled"),
            shows: "1500 | - | 250 | FAILED could not test whether a start by hand is refused: the "
                + "start ended as 'canceled'"),
        Case(
            name: "no time is left for a start by hand", handStart: nil,
            shows:
                "1500 | - | 250 | FAILED could not test whether a start by hand is refused: there "
                + "was no time left to try one"),
        Case(
            name: "another unit keeps starts by hand from being tried", handStart: nil,
            wasAllDown: false, shows: "1500 | - | 250"),
        Case(
            name: "it fails to start", ended: .down(at: 110.5, .failed, "exit-code", leftAt: 110.2),
            shows: "1500 | refused | - | FAILED failed with result 'exit-code'"),
        Case(
            name: "it is still starting",
            ended: UnitSnapshot(UnitStatus(.activating, hasJob: true)),
            shows: "1500 | refused | - | FAILED not started after 90 s"),
        Case(
            name: "nothing starts it", isStarted: false, ended: .down(at: 101.5),
            shows: "1500 | refused | - | FAILED was not started again: the gate does not start it"),
        Case(
            name: "its socket starts it later", isStarted: false, isTriggered: true,
            ended: .down(at: 101.5),
            shows: "1500 | refused | - | stays stopped until something triggers it"),
        Case(
            name: "a job that was under way", isStarted: false, was: .activating,
            ended: .down(at: 101.5),
            shows: "1500 | refused | - | was stopped at its work, which is not started again"),
        Case(
            name: "it does not stay up", ended: .down(at: 110.75, leftAt: 110.1),
            shows: "1500 | refused | 750 | FAILED started again, but then ended"),
        Case(
            name: "a job that the opening runs", was: .activating,
            ended: .down(at: 110.75, leftAt: 110.1),
            shows: "1500 | refused | 750"),
        Case(
            name: "the daemon reports a problem", reportedProblem: "it ran behind a closed gate",
            shows: "1500 | refused | 250 | killswitchd says: it ran behind a closed gate"),
        Case(
            name: "the gate was never opened again", ended: .down(at: 101.5), isOpened: false,
            shows: "1500 | refused | -"),
        Case(
            name: "systemd told nothing", closed: nil, ended: nil,
            shows: "- | refused | - | FAILED systemd did not answer a question about this unit"),
        Case(
            name: "it was broken off in the middle",
            closed: UnitSnapshot(UnitStatus(.deactivating, hasJob: true)), handStart: nil,
            ended: UnitSnapshot(UnitStatus(.deactivating, hasJob: true)), wasAllDown: false,
            wasInterrupted: true, shows: "- | - | -"),
    ]

    static let others = [
        Case(
            name: "a dependent that comes back", kind: .dependent(on: needed), isStarted: false,
            handStart: nil, shows: "1500 | - | 250"),
        Case(
            name: "a dependent that does not", kind: .dependent(on: needed), isStarted: false,
            handStart: nil, ended: .down(at: 101.5),
            shows: "1500 | - | - | FAILED stopped with db.service and was not started again; "
                + "attach it too: killswitchctl attach shop web.service"),
        Case(
            name: "a dependent that never stopped", kind: .dependent(on: needed), isStarted: false,
            closed: .up(at: 50), handStart: nil, ended: .up(at: 50), shows: "- | - | -"),
        Case(
            name: "a dependent that hangs", kind: .dependent(on: needed), isStarted: false,
            closed: UnitSnapshot(UnitStatus(.deactivating)), handStart: nil,
            ended: .up(at: 110.25, downAt: 110.2), wasAllDown: false,
            shows: "10200 | - | 250 | FAILED still running after 10 s"),
        Case(
            name: "a page that runs meanwhile", kind: .state, was: .inactive,
            closed: .up(at: 101.75), handStart: nil, ended: .down(at: 110.1, leftAt: 101),
            shows: "100 | - | 1750"),
        Case(
            name: "a page that does not start", kind: .state, was: .inactive,
            closed: .down(at: 40), handStart: nil, ended: .down(at: 40),
            shows: "- | - | - | FAILED did not run while the gate was closed"),
        Case(
            name: "a page that waits for another unit", kind: .state, was: .inactive,
            closed: .down(at: 40), handStart: nil, ended: .down(at: 40), wasAllDown: false,
            shows: "- | - | -"),
        Case(
            name: "a page that fails", kind: .state, was: .inactive,
            closed: .down(at: 102, .failed, "exit-code", leftAt: 101.9), handStart: nil,
            ended: .down(at: 102, .failed, "exit-code", leftAt: 101.9),
            shows: "- | - | - | FAILED failed with result 'exit-code'"),
        Case(
            name: "a page that stays", kind: .state, was: .inactive, closed: .up(at: 101),
            handStart: nil, ended: .up(at: 101),
            shows: "- | - | 1000 | FAILED still runs although the gate is open again"),
        Case(
            name: "a page that nothing starts", kind: .state, isStarted: false, was: .inactive,
            closed: .down(at: 40), handStart: nil, ended: .down(at: 40), shows: "- | - | -"),
    ]

    private static let needed = [UnitName("db.service")].compactMap(\.self)[0]

    @Test(arguments: attached + others) func theOutcomeOfAUnitFollowsFromItsObservations(
        _ example: Case
    ) throws {
        #expect(try line(example) == example.shows)
    }
}

extension UnitSnapshot {
    fileprivate static func down(
        at seconds: Double, _ active: ActiveState = .inactive, _ result: String = "success",
        leftAt: Double = 30
    ) -> UnitSnapshot {
        var snapshot = UnitSnapshot(UnitStatus(active), result: result)
        snapshot.downSince = Uptime(microseconds: Int64(seconds * 1_000_000))
        snapshot.leftDown = Uptime(microseconds: Int64(leftAt * 1_000_000))
        return snapshot
    }

    fileprivate static func up(at seconds: Double, downAt: Double = 101.5) -> UnitSnapshot {
        var snapshot = UnitSnapshot(UnitStatus(.active), result: "success")
        snapshot.upSince = Uptime(microseconds: Int64(seconds * 1_000_000))
        snapshot.leftDown = snapshot.upSince
        snapshot.downSince =
            seconds > downAt ? Uptime(microseconds: Int64(downAt * 1_000_000)) : nil
        return snapshot
    }
}
