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

    @Test func theGateOpensAtTheHostsTurn() throws {
        var play = try play().answered(ServiceEnd.over).receiving(ServiceEnd.no, at: 60)
        play.at(309, .woke)
        play.at(310, .woke)
        play.expectWithoutFetches(
            #"""
            60s app answers {"service_end": "no"} (stored, confirmed)
                remember and publish shop ended closed reopening-at #2 until 2027-03-02T00:01:00+00:00
                log notice: shop: ended: source 'app' opens the gate again; this host opens it at 2027-03-01T12:05:10+00:00 (open_spread)
            309s woke
            310s woke
                remember and publish shop running open flags #3 until 2027-03-02T00:01:00+00:00
                log notice: shop: running (was ended): set by the flags of source 'app'
            """#)
    }

    @Test func theTurnDoesNotMoveOverARestart() throws {
        let play = try play().answered(ServiceEnd.over).receiving(ServiceEnd.no, at: 60)
        var memory = try Memory.stored(
            ServiceEnd.no, fetchedAt: "2027-03-01T12:01:00Z", state: .ended)
        memory.ledger = .known(play.ledger)
        var next = try self.play(
            memory: memory, start: "2027-03-01T12:05:00Z", bootedFor: .seconds(1300))
        #expect(next.states(at: 0, .started) == [.ended])
        #expect(next.states(at: 9) == [.ended])
        #expect(next.states(at: 10) == [.running])
    }

    @Test func closingAgainEndsTheWaitAndTheNextOpeningBeginsAnother() throws {
        var play = try play().answered(ServiceEnd.over).receiving(ServiceEnd.no, at: 60)
        try play.at(120, "app", answers: ServiceEnd.over)
        #expect(play.states(at: 310) == [.ended])
        try play.at(400, "app", answers: ServiceEnd.no)
        #expect(play.states(at: 649) == [.ended])
        #expect(play.states(at: 650) == [.running])
    }

    @Test func anOperatorsOrderOpensAtOnceAndItsReleaseDoesNotWait() throws {
        var play = try play().answered(ServiceEnd.over).receiving(ServiceEnd.no, at: 60)
        play.at(70, .force("shop", try .order(.running), ifOpen: false))
        #expect(play.states == [.running])
        #expect(play.states(at: 80, .release("shop", by: "root", only: nil)) == [.running])
    }

    @Test func aDrillDoesNotWait() throws {
        var play = try play().answered(ServiceEnd.no)
        play.at(70, .force("shop", try .drill(), ifOpen: true))
        #expect(play.states == [.maintenance])
        #expect(play.states(at: 80, .release("shop", by: "root", only: nil)) == [.running])
    }

    /// The host has booted 1,000 seconds ago, and its turn is 1,250 seconds after the boot.
    @Test(arguments: [false, true]) func aBootWaitsIfAsked(_ spreadsAtBoot: Bool) throws {
        let memory = try Memory.stored(ServiceEnd.no, state: .running, boot: "another-boot")
        var play = try play(
            Policy(openSpread: .seconds(5000), spreadsAtBoot: spreadsAtBoot), memory: memory
        ).answered(ServiceEnd.no, at: 1)
        #expect(play.states == [spreadsAtBoot ? .maintenance : .running])
        #expect(play.states(at: 249) == [spreadsAtBoot ? .maintenance : .running])
        #expect(play.states(at: 250) == [.running])
    }

    /// `spread_at_boot` once had a service wait that was new on a host, long after the boot.
    @Test func aServiceThatIsNewOnAHostThatIsLongUpDoesNotWait() throws {
        let policy = Policy(openSpread: .seconds(1000), spreadsAtBoot: true)
        var play = try play(policy).answered(ServiceEnd.no)
        #expect(play.states == [.running])
        let both = try ["shop", "web"].map { try service($0, policy: policy) }
        play.at(10, .reconfigured(Plan(both), replaced: [:], remembered: [:]))
        #expect(play.states == [.running, .running])
        #expect(!play.text.contains("reopening-at"), "\(play.text)")
    }

    /// A boot's wait is over; flags that close the gate and open it again begin another.
    @Test func anOpeningAfterTheBootWaitsItsWholeShare() throws {
        let policy = Policy(openSpread: .seconds(1000), spreadsAtBoot: true)
        var play = try play(policy).answered(ServiceEnd.over).receiving(ServiceEnd.no, at: 60)
        #expect(play.states(at: 309) == [.ended])
        #expect(play.states(at: 310) == [.running])
    }

    /// A host slept over the end of an order and of the window: nobody has asked for a closing.
    @Test func aGateThatAnOperatorHasOpenedIsNotClosedToWait() throws {
        let window =
            #"{"state":"running","windows":[{"from":"2027-03-01T12:01:00Z","until":"2027-03-01T12:02:00Z"}]}"#
        var play = try Transcript(
            [
                try service(
                    format: .switchObject(.whole), policy: Policy(openSpread: .seconds(1000)))
            ], place: .fixed(try #require(Slot(250_000)))
        ).answered(window)
        let order = try Override.order(.running, until: "2027-03-01T12:01:50Z")
        play.at(50, .force("shop", order, ifOpen: false))
        #expect(play.states(at: 70) == [.running])
        #expect(play.states(at: 130) == [.running])
        #expect(!play.text.contains("reopening-at"), "\(play.text)")
    }

    @Test func aWaitOutlastsAReloadThatAddsASource() throws {
        var play = try play().answered(ServiceEnd.over).receiving(ServiceEnd.no, at: 60)
        let more = try service(
            policy: Policy(openSpread: .seconds(1000)), sources: ["app", "calendar"])
        play.at(70, .reconfigured(Plan([more]), replaced: [:], remembered: [:]))
        #expect(try play.states(at: 75, "calendar", answers: ServiceEnd.no) == [.ended])
        #expect(play.states(at: 309) == [.ended])
        #expect(play.states(at: 310) == [.running])
    }

    @Test func aReloadThatShortensTheSpreadShortensTheWait() throws {
        var play = try play().answered(ServiceEnd.over).receiving(ServiceEnd.no, at: 60)
        let shorter = try service(policy: Policy(openSpread: .seconds(40)))
        play.at(70, .reconfigured(Plan([shorter]), replaced: [:], remembered: [:]))
        #expect(play.states(at: 79) == [.ended])
        #expect(play.states(at: 80) == [.running])
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

    /// Silence had closed the gate in an earlier boot. In this one nothing has closed it yet, so that the
    /// source is waited for.
    @Test func aClosingOfAnEarlierBootIsNoneOfThisBoot() throws {
        let memory = try Memory.stored(
            ServiceEnd.no, fetchedAt: "2027-02-20T12:00:00Z", state: .maintenance,
            boot: "another-boot")
        var play = try play(
            Policy(maxStale: .seconds(3600), whenStale: .closed, openSpread: .seconds(1000)),
            memory: memory)
        play.at(0, .started)
        play.at(1, .fetchEnded("app", .failure(Failure(.unreachable, "down"))))
        #expect(play.states == [.undecided])
        #expect(try play.states(at: 5, "app", answers: ServiceEnd.no) == [.running])
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
