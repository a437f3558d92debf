import CivilTime
import Decision
import Support
import Testing

/// `open_spread`: after flags have opened the gate each host waits its share.
@Suite struct OpenSpreadTests {
    /// A host whose share of 1,000 seconds is 250.
    private func play(
        _ policy: Policy = Policy(openSpread: .seconds(1000)), memory: Memory = Memory(),
        start: String = "2027-03-01T12:00:00Z", bootedFor: Duration = .seconds(1000)
    ) throws -> Transcript {
        try Transcript(
            [try service(policy: policy)], memory: memory, start: start,
            place: .fixed(try #require(Slot(250_000))), bootedFor: bootedFor)
    }

    /// The wall clock was set by a day while no daemon ran. The turn is stored by the boot clock.
    @Test(arguments: ["2027-02-28T12:02:00Z", "2027-03-02T12:02:00Z"])
    func aClockThatIsSetBeforeARestartDoesNotMoveTheTurn(_ start: String) throws {
        let play = try play().answered(ServiceEnd.over).receiving(ServiceEnd.no, at: 60)
        var memory = try Memory.stored(
            ServiceEnd.no, fetchedAt: "2027-02-28T12:00:00Z", state: .ended)
        memory.ledger = .known(play.ledger)
        var next = try self.play(memory: memory, start: start, bootedFor: .seconds(1120))
        next.at(0, .started)
        #expect(next.states(at: 189) == [.ended])
        #expect(next.states(at: 190) == [.running])
    }

    /// The peak of starts is near the mean: the second with the most hosts of 100,000 over ten minutes.
    @Test func aHundredThousandHostsComeBackEvenly() throws {
        var starts = Array(repeating: 0, count: 10)
        for host in 0..<100_000 {
            let slot = Slot(of: "host-\(host)", seed: "shop/open")
            starts[slot.number * starts.count / Slot.count] += 1
        }
        #expect(Double(starts.max() ?? 0) <= 1.2 * 10_000)
    }
}
