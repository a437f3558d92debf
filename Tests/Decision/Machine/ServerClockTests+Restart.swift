import CivilTime
import Decision
import Support
import Testing

/// The clocks of servers over restarts and reboots.
extension ServerClockTests {
    /// The daemon is started again while the clock is wrong: nothing ends before the server has told so.
    @Test func aRestartRemembersThatTheClockIsWrong() throws {
        for stepsBefore in [true, false] {
            var play = try announced()
            if stepsBefore { play.stepClock(100, by: Self.day * 2) }
            var memory = try Memory.stored(
                Self.countdown, fetchedAt: "2027-03-01T12:00:01Z", state: .countdown,
                boot: "this-boot")
            memory.ledger = play.ledger
            var next = try Transcript(
                [try service()], memory: memory, start: "2027-03-03T12:02:00Z")
            // The same boot, 110 s later.
            #expect(next.states(at: 110, .started) == [.countdown])
            let date = play.trueTime(at: 115)
            next.at(115, .fetchEnded("app", .unchanged, date: date))
            next.hang(until: 230)
            #expect(next.states == [.countdown])
            // Without an answer the stored clock counts for two intervals.
            next.hang(until: 240)
            #expect(next.states == [.ended])
        }
    }

    /// After a reboot the boot clock has begun anew: a stored clock tells nothing.
    @Test func aRebootForgetsTheClocksOfServers() throws {
        var memory = try Memory.stored(
            Self.countdown, fetchedAt: "2027-03-01T12:00:01Z", state: .countdown,
            boot: "another-boot")
        memory.ledger.clocks = Ledger.Clocks(
            bootID: "another-boot", isSynchronised: false,
            servers: [
                "app": ServerClock(
                    date: try Instant(rfc3339: "2027-03-01T12:00:00Z"),
                    at: Boottime(microseconds: 1_000_000_000))
            ])
        var play = try Transcript([try service()], memory: memory, start: "2027-03-02T12:00:00Z")
        #expect(play.states(at: 0, .started) == [.ended])
    }

    /// The clocks are written when they change, not at every poll.
    @Test func aPollWritesNoClock() throws {
        var play = try announced()
        for minute in 1...60 {
            let seconds = Double(minute * 60)
            let date = play.trueTime(at: seconds) - .seconds(Int64(minute % 3))
            play.at(seconds, .fetchEnded("app", .unchanged, date: date))
        }
        #expect(!play.text.contains("remember"))
    }
}
