import CivilTime
import Decision
import Testing
import VirtualWorld

/// A thousand hosts with the real machine: what a guard saves in a closing that breaks hosts, and in a recovery that
/// overloads what the hosts need.
@Suite(.timeLimit(.minutes(5))) struct GuardedFleetTests {
    private static let count = 1000
    /// From one step to the next, and from one scrape to the next.
    private static let (pause, scrape) = (600, 15)
    private static let percents = [1, 5, 20, 50, 100]

    private static func order(from start: Instant) -> String {
        let steps = percents.enumerated().map { index, percent in
            let at = Zone.utc.rfc3339(start + .seconds(Int64(pause * (index + 1))))
            return #"{"at":"\#(at)","percent":\#(percent)}"#
        }
        return #"{"state":"maintenance","rollout":[\#(steps.joined(separator: ","))]}"#
    }

    /// Whether the order breaks a host: of `share` percent of all.
    private static func breaks(_ host: Int, of share: Int) -> Bool {
        Slot(of: "host-\(host)", seed: "kind").number < Slot.count / 100 * share
    }

    private struct Outcome {
        var (closed, broken, held) = (0, 0, 0)
        /// How many hosts were closed after each step.
        var steps: [Int] = []
        /// How many of them the order had broken.
        var brokenBySteps: [Int] = []
    }

    /// Closes the fleet in steps. The guard passes while the order has broken fewer than one host in a thousand, as of
    /// the last scrape.
    private func close(breaking share: Int, isGuarded: Bool) throws -> Outcome {
        var fleet = GuardedFleet(Self.count, isGuarded: isGuarded)
        try fleet.publish(Self.order(from: fleet.now.wall))
        var answer = GuardAnswer.passes
        var outcome = Outcome()
        for second in 1...Self.pause * (Self.percents.count + 1) {
            fleet.pass(asking: answer)
            guard second % Self.scrape == 0 else { continue }
            outcome.broken = (0..<Self.count).count {
                fleet.isClosed($0) && Self.breaks($0, of: share)
            }
            answer =
                outcome.broken * 1000 < Self.count ? .passes : .holds("its query gives no sample")
            if (second + Self.scrape) % Self.pause == 0, second > Self.pause {
                outcome.steps.append(fleet.closed)
                outcome.brokenBySteps.append(outcome.broken)
            }
        }
        (outcome.closed, outcome.held) = (fleet.closed, fleet.held)
        return outcome
    }

    @Test(arguments: [0, 1, 3, 20]) func onlyTheStepInWhichHostsBreakIsHit(_ share: Int) throws {
        let without = try close(breaking: share, isGuarded: false)
        let with = try close(breaking: share, isGuarded: true)
        print(
            "an order that breaks \(share) % of 1,000 hosts: without a guard \(without.closed) closed, "
                + "\(without.broken) broken; with one \(with.closed) closed, \(with.broken) broken, "
                + "\(with.held) held; by steps \(with.steps), without \(without.steps)")
        #expect(without.closed == Self.count)
        let first = without.brokenBySteps.firstIndex { $0 > 0 }
        // No host of a later step is hit.
        let expected = first.map { without.steps[$0] } ?? Self.count
        #expect(with.closed == expected)
        #expect(with.broken == first.map { without.brokenBySteps[$0] } ?? 0)
        #expect(with.held == Self.count - expected)
    }

    // MARK: Recovery

    private struct Recovery {
        /// When every host served without errors.
        var seconds: Int?
        /// Requests that failed, of hosts that each have one a second.
        var failures = 0.0
        var questions = 0
    }

    /// Opens the fleet. A host that has opened needs 60 requests to the back-end until it is warm. The back-end serves
    /// a hundred a second; of more than it can serve it wastes its time on those that it cannot finish.
    private func open(spread: Int, isGuarded: Bool) throws -> Recovery {
        var fleet = GuardedFleet(
            Self.count, isGuarded: isGuarded,
            policy: Policy(minClosed: .zero, openSpread: .seconds(Int64(spread))))
        try fleet.publish(#"{"state":"maintenance"}"#)
        try fleet.publish(#"{"state":"running"}"#)
        var cold = Array(repeating: 60.0, count: Self.count)
        var answer = GuardAnswer.passes
        var recovery = Recovery()
        var (failed, asked) = (0.0, 0.0)
        for second in 1...4 * 3600 {
            fleet.pass(asking: answer)
            let open = (0..<Self.count).filter { !fleet.isClosed($0) }
            let warming = open.filter { cold[$0] > 0 }
            let load = Double(warming.count) / 100
            let served = load <= 1 ? 1 : 1 / (load * load)
            for host in warming { cold[host] -= served }
            let failures = Double(warming.count) * (1 - served)
            recovery.failures += failures
            failed += failures
            asked += Double(open.count)
            if second % Self.scrape == 0 {
                answer =
                    asked > 0 && failed / asked >= 0.05
                    ? .holds("its query gives no sample") : .passes
                (failed, asked) = (0, 0)
            }
            if open.count == Self.count, warming.isEmpty {
                recovery.seconds = second
                break
            }
        }
        recovery.questions = fleet.questions
        return recovery
    }

    @Test func aGuardKeepsARecoveryFromOverloadingTheBackEnd() throws {
        let trials: [(name: String, spread: Int, isGuarded: Bool)] = [
            ("at once", 0, false), ("over 5 min", 300, false), ("over 5 min, guarded", 300, true),
            ("over 15 min", 900, false), ("over 15 min, guarded", 900, true),
        ]
        var outcomes: [String: Recovery] = [:]
        for trial in trials {
            let recovery = try open(spread: trial.spread, isGuarded: trial.isGuarded)
            outcomes[trial.name] = recovery
            let time = recovery.seconds.map { "all warm after \($0) s" } ?? "not warm after 4 h"
            print(
                "1,000 hosts open \(trial.name): \(time), \(Int(recovery.failures)) failed requests, "
                    + "\(recovery.questions) questions")
        }
        let (without, with) = (outcomes["over 5 min"], outcomes["over 5 min, guarded"])
        #expect((with?.seconds ?? .max) < (without?.seconds ?? .max))
        #expect((with?.failures ?? .infinity) < (without?.failures ?? 0) / 5)
    }
}
