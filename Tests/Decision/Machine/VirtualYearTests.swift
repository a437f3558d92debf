import CivilTime
import Decision
import Testing
import VirtualWorld

/// Weeks of polling in virtual time, with more random failures than a real network has. The benchmark
/// runs the whole year.
@Suite(.timeLimit(.minutes(5))) struct VirtualYearTests {
    private static let start = Instant(seconds: 1_806_000_000)

    @Test(arguments: UInt64(1)...3)
    func everyEndWindowStepWaitAndDrainIsMetToTheSecondAndNoFetchComesTooSoon(_ seed: UInt64) throws
    {
        let length = Duration.seconds(28 * 86_400)
        var world = try World(
            seed: seed, from: Self.start, for: length, zone: try zone("Europe/Berlin"),
            interval: .seconds(300))
        world.run(until: Self.start + length)
        let chronicle = world.chronicle
        #expect(chronicle.violations == [], "seed \(seed), \(Weather())")
        #expect(chronicle.polls > 10_000 && chronicle.edges > 40 && chronicle.changes > 40)
        for fault in [
            "unreachable", "not flags", "wrong flags", "rollback", "refused", "overloaded",
            "outage", "restart", "reboot", "sleep", "failed write", "order",
        ] {
            #expect(chronicle.faults[fault, default: 0] > 0, "\(fault), seed \(seed)")
        }
        for step in [
            "wait", "closing during a wait", "drain", "opening during a drain",
            "closing without a drain", "restart in a step",
        ] {
            #expect(chronicle.steps[step, default: 0] > 0, "\(step), seed \(seed)")
        }
    }
}
