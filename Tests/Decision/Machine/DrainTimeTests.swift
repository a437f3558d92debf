import CivilTime
import Decision
import Support
import Testing

@Suite struct DrainTimeTests {
    private static let policy = Policy(drain: .seconds(20))

    /// The drain that begins or goes on, and what is left of it; nil without one.
    private func drain(_ effects: [Effect], _ play: Transcript) -> Duration? {
        for case .publish(_, let record) in effects {
            return record.drainsUntil.map { $0 - play.now.boot }
        }
        return nil
    }

    /// Nor does a clock that was set by a day while no daemon ran: the end is stored by the boot clock.
    @Test(arguments: ["2027-02-28T12:00:00Z", "2027-03-02T12:00:00Z"])
    func aClockThatIsSetBeforeARestartDoesNotMoveTheDrain(_ start: String) throws {
        let play = try running().receiving(#"{"state":"maintenance"}"#, at: 10)
        var next = try restarted(play, #"{"state":"maintenance"}"#, after: 13, start)
        #expect(drain(next.at(0, .started), next) == .seconds(17))
    }

    /// Another daemon of the same boot, with these flags, this many seconds later. `start` is what the wall clock
    /// shows then; nil for the same time.
    private func restarted(
        _ play: Transcript, _ flags: String, after seconds: Int64, _ start: String? = nil
    ) throws -> Transcript {
        var memory = try Memory.stored(flags, fetchedAt: "2027-03-01T12:00:00Z", state: .ended)
        memory.ledger = .known(play.ledger)
        let time = try Instant(rfc3339: "2027-03-01T12:00:00Z") + .seconds(seconds)
        return try Transcript(
            [try service(format: .switchObject(.whole), policy: Self.policy)], memory: memory,
            start: start ?? Zone.utc.rfc3339(time), bootedFor: .seconds(1000 + seconds))
    }

    // MARK: - What a drain waits for and what it does not, as killswitchd(8) and killswitchd.toml(5) list it

    private func running(_ policy: Policy = Self.policy, _ slot: Int = 0) throws -> Transcript {
        try Transcript(
            [try service(format: .switchObject(.whole), policy: policy)],
            place: .fixed(try #require(Slot(slot)))
        ).answered(#"{"state":"running"}"#)
    }
}
