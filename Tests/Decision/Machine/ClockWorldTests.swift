import CivilTime
import Decision
import Testing
import VirtualWorld

/// Random steps of the clock, sleeps, restarts and reboots, with servers whose clocks are right, wrong or
/// absent: every end comes by the clock that the manual says.
@Suite(.timeLimit(.minutes(5))) struct ClockWorldTests {
    private static let start = Instant(seconds: 1_806_000_000)

    @Test(arguments: UInt64(1)...8)
    func everyEndComesByTheClockThatCanBeBelieved(_ seed: UInt64) throws {
        let length = Duration.seconds(14 * 86_400)
        var world = try ClockWorld(seed: seed, from: Self.start, for: length)
        world.run(until: Self.start + length)
        let chronicle = world.chronicle
        #expect(chronicle.violations == [], "seed \(seed)")
        #expect(chronicle.polls > 3000 && chronicle.edges > 20 && chronicle.changes > 20)
        for mishap in [
            "step back", "step forward", "synchronised", "wrong server", "sleep", "restart",
            "reboot", "outage",
        ] {
            #expect(chronicle.faults[mishap, default: 0] > 0, "\(mishap), seed \(seed)")
        }
    }
}
