import Decision
import Reports
import Support
import Testing

/// When a host says what its units have obeyed, in virtual time.
@Suite struct AcknowledgementMachineTests {
    @Test(arguments: UInt64(1)...50)
    func anAcknowledgementFollowsWithinAMinuteOnceTheUnitsAreAsWanted(_ seed: UInt64) throws {
        var world = AcknowledgementWorld(seed: seed)
        world.at(0, is: "open")
        world.run(until: 100)
        #expect(world.told() == ["open"])
        world.at(100, is: "closing", isSettled: false)
        world.at(130, is: "closed")
        world.run(until: 191)
        #expect(world.told() == ["open", "closed"])
        #expect(try #require(world.taken.last).second >= 130)
    }

    /// The hosts of a fleet obey in the same second.
    @Test func theHostsOfAFleetAreSpreadOverAMinute() {
        var perTenSeconds = [Int](repeating: 0, count: 7)
        for seed in UInt64(1)...3000 {
            var world = AcknowledgementWorld(seed: seed)
            world.at(0, is: "closed")
            world.run(until: 70)
            perTenSeconds[Int((world.taken.first?.second ?? 60) / 10)] += 1
        }
        #expect(perTenSeconds.prefix(6).allSatisfy { (430...570).contains($0) }, "\(perTenSeconds)")
        #expect(perTenSeconds[6] <= 1)
    }

    @Test func unitsThatStayOnTheirWayAreToldAfterTwoToThreeMinutes() {
        var world = AcknowledgementWorld()
        world.at(0, is: "open")
        world.at(100, is: "closing", isSettled: false)
        world.run(until: 219)
        #expect(world.told() == ["open"])
        world.run(until: 281)
        #expect(world.told() == ["open", "closing"])
        world.at(400, is: "closed")
        world.run(until: 461)
        #expect(world.told() == ["open", "closing", "closed"])
    }

    /// Each change draws no new wait: else units that come and go would be told never, or all hosts at once.
    @Test(arguments: UInt64(1)...20) func unitsThatComeAndGoAreToldInThreeMinutes(_ seed: UInt64) {
        var world = AcknowledgementWorld(seed: seed)
        for second in Int64(0)..<200 {
            world.at(second, is: "\(second % 2)", isSettled: second.isMultiple(of: 2))
        }
        #expect(!world.taken.isEmpty)
        #expect(world.taken.count <= 5, "\(world.taken)")
    }

    @Test func whatIsAsTheClusterKnowsItIsNotPutAgain() {
        var world = AcknowledgementWorld()
        world.at(0, is: "open")
        world.run(until: 100)
        world.at(100, is: "closing", isSettled: false)
        world.at(101, is: "open")
        for second in Int64(102)..<400 { world.at(second, is: "open") }
        #expect(world.told() == ["open"])
        #expect(world.machine.waiting == 0)
    }

    @Test(arguments: UInt64(1)...20)
    func anUnchangedAcknowledgementIsRepeatedEveryTwelveToFifteenMinutes(_ seed: UInt64) {
        var world = AcknowledgementWorld(seed: seed)
        world.at(0, is: "open")
        world.run(until: 36_000)
        let gaps = zip(world.taken, world.taken.dropFirst()).map { $1.second - $0.second }
        #expect(gaps.allSatisfy { (719...901).contains($0) }, "\(gaps)")
        #expect(Set(gaps).count > 10)
    }

    @Test func onePutIsInFlightAndEachServiceWaitsOnce() {
        var world = AcknowledgementWorld { $0 < 200 ? .isSilent : .takes() }
        let services = (0..<100).map { ServiceName("s\($0)") }.compactMap(\.self)
        for round in Int64(0)..<50 {
            for service in services { world.at(round * 4, service, is: "\(round)") }
        }
        #expect(world.machine.waiting == 100)
        world.run(until: 600)
        #expect(world.mostInFlight == 1)
        #expect(world.machine.waiting == 0)
        #expect(services.allSatisfy { world.told($0) == ["49"] })
    }

    /// The put says what is so by then.
    @Test func aChangeDuringAPutIsPutAfterIt() {
        var world = AcknowledgementWorld { $0 < 70 ? .takes(after: .seconds(20)) : .takes() }
        world.at(0, is: "a")
        while world.attempts.isEmpty { world.run(until: (world.attempts.last ?? 0) + 61) }
        let start = world.attempts[0]
        world.at(max(61, start + 1), is: "b")
        world.run(until: 200)
        #expect(world.told().last == "b")
        #expect(world.machine.waiting == 0)
    }

    @Test(arguments: UInt64(1)...20)
    func aClusterThatWasAwayForAnHourGetsThePresentStateOnce(_ seed: UInt64) {
        var world = AcknowledgementWorld(seed: seed) {
            (100..<3700).contains($0) ? .fails() : .takes()
        }
        world.at(0, is: "a")
        for step in Int64(0)..<35 { world.at(110 + 100 * step, is: "\(step)") }
        world.run(until: 3700)
        #expect(world.told() == ["a"])
        world.run(until: 4001)
        #expect(world.told() == ["a", "34"])
        #expect((12...40).contains(world.attempts.count), "\(world.attempts.count)")
    }

    @Test func aHostWithoutTheRightTriesAgainEveryFewMinutes() {
        var world = AcknowledgementWorld { _ in .denies }
        world.at(0, is: "a")
        world.run(until: 3600)
        #expect((11...25).contains(world.attempts.count), "\(world.attempts.count)")
    }

    @Test func theClusterIsLeftAloneAsLongAsItAsks() {
        var world = AcknowledgementWorld { $0 < 100 ? .fails(retryAfter: .seconds(600)) : .takes() }
        world.at(0, is: "a")
        world.run(until: 600)
        #expect(world.attempts.count == 1)
        world.run(until: 800)
        #expect(world.told() == ["a"])
    }

    /// After a restart of etcd all tokens are void. A cluster checks 18 to 200 passwords a second.
    @Test func theLoginsOfAFleetAreSpreadOverAMinute() {
        var logins = [Int](repeating: 0, count: 13)
        for seed in UInt64(1)...1200 {
            var world = AcknowledgementWorld(seed: seed) { _ in .wantsToken }
            world.at(0, is: "a")
            world.run(until: 130)
            #expect(world.logins.count == 1)
            #expect(world.told() == ["a"])
            let wait = (world.logins.first ?? 0) - (world.attempts.first ?? 0)
            logins[Int(wait / 10)] += 1
        }
        #expect(logins.prefix(6).allSatisfy { (140...260).contains($0) }, "\(logins)")
    }

    @Test func aServiceThatIsGoneIsNotSpokenOf() {
        var world = AcknowledgementWorld()
        world.at(0, is: "a")
        world.at(0, "books", is: "a")
        world.at(0, withdraws: "shop")
        world.run(until: 2000)
        #expect(world.told().isEmpty)
        #expect(world.told("books").count >= 2)
        #expect(world.machine.waiting == 0)
    }
}
