import Reports
import Testing

/// When the state of the host is told, in virtual time.
@Suite struct TellingTests {
    @Test func aChangeIsReportedOnceTheUnitsAreAsWanted() {
        var world = TellingWorld()
        world.at(100, becomes: "b", isSettled: false)
        world.at(130, becomes: "c", isSettled: false)
        world.at(160, becomes: "d")
        world.run(until: 300)
        #expect(world.taken == ["a", "d"])
    }

    /// A report of ten thousand services costs more than a look at them.
    @Test func noReportIsMadeWhileUnitsAreOnTheirWay() {
        var world = TellingWorld()
        world.run(until: 50)
        for second in Int64(100)..<160 { world.at(second, becomes: "b", isSettled: false) }
        world.run(until: 200)
        #expect(world.attempts == 1)
        #expect((20...32).contains(world.looks), "\(world.looks)")
    }

    @Test func unitsThatStayOnTheirWayAreToldAfterTwoMinutes() {
        var world = TellingWorld()
        world.at(100, becomes: "b", isSettled: false)
        world.run(until: 219)
        #expect(world.taken == ["a"])
        world.run(until: 220)
        #expect(world.taken == ["a", "b"])
        world.at(400, becomes: "c")
        world.run(until: 410)
        #expect(world.taken == ["a", "b", "c"])
    }

    @Test func aBurstOfChangesIsOneReport() {
        var world = TellingWorld()
        world.run(until: 50)
        for letter in ["b", "c", "d", "e"] { world.at(50, becomes: letter) }
        world.run(until: 100)
        #expect(world.taken == ["a", "e"])
    }

    @Test func reportsAreAtLeastFiveSecondsApart() {
        var world = TellingWorld()
        for second in Int64(10)..<70 { world.at(second, becomes: "\(second)") }
        world.run(until: 80)
        #expect(world.attempts <= 14)
        #expect(world.taken.last == "69")
    }

    @Test func withoutAChangeAReportIsRepeatedEveryTwelveToFifteenMinutes() {
        for seed in UInt64(1)...50 {
            var world = TellingWorld(seed: seed)
            world.run(until: 36_000)
            #expect((40...51).contains(world.attempts), "\(world.attempts)")
        }
    }

    /// A source of 15 s with `max_stale` confirms its flags, which moves `valid_until` alone.
    @Test func whatIsNoNewsIsToldEveryTwelveToFifteenMinutes() {
        for seed in UInt64(1)...10 {
            var world = TellingWorld(seed: seed)
            for second in stride(from: Int64(15), to: 36_000, by: 15) {
                world.at(second, becomes: "a")
            }
            #expect((40...51).contains(world.attempts), "\(world.attempts)")
            #expect(world.unsent > 2_000)
            world.at(36_000, becomes: "b")
            world.run(until: 36_010)
            #expect(world.taken.last == "b")
        }
    }

    @Test func anHourWithoutTheSink() {
        var world = TellingWorld { (100..<3700).contains($0) ? .refuses() : .accepts() }
        world.at(300, becomes: "b", isSettled: false)
        world.at(310, becomes: "c")
        world.at(2000, becomes: "d")
        world.at(3600, becomes: "e")
        world.run(until: 4400)
        let report = world.lines.filter { !$0.contains("does not take") }
            .map { $0.drop { $0.isNumber }.dropFirst() }
        #expect(
            report.joined(separator: "\n") == """
                the sink knows a
                b, units are on their way
                c
                d
                e
                the sink knows e
                """)
        #expect((12...30).contains(world.attempts), "\(world.attempts)")
    }

    /// The report of each state that the sink has missed would be as good as none.
    @Test(arguments: UInt64(1)...20)
    func aSinkThatWasDownForAnHourGetsThePresentStateOnce(_ seed: UInt64) {
        var world = TellingWorld(seed: seed) { (100..<3700).contains($0) ? .refuses() : .accepts() }
        for step in Int64(0)..<35 { world.at(110 + 100 * step, becomes: "\(step)") }
        world.run(until: 3700)
        #expect(world.taken == ["a"])
        world.run(until: 4001)
        #expect(world.taken == ["a", "34"])
        world.run(until: 4400)
        #expect(world.taken == ["a", "34"])
    }

    @Test func theWaitsAfterFailuresGrow() {
        var world = TellingWorld { _ in .refuses() }
        world.run(until: 60)
        #expect((4...7).contains(world.attempts), "\(world.attempts)")
        let before = world.attempts
        world.run(until: 3660)
        #expect((12...30).contains(world.attempts - before), "\(world.attempts)")
    }

    @Test func aSilentSinkHasOneReportInFlight() {
        var world = TellingWorld { $0 < 300 ? .isSilent : .accepts() }
        for step in Int64(1)..<30 { world.at(10 * step, becomes: "\(step)") }
        world.run(until: 900)
        #expect(world.taken == ["29"])
    }

    @Test func aChangeDuringAReportIsReportedAfterIt() {
        var world = TellingWorld { $0 < 5 ? .accepts(after: .seconds(20)) : .accepts() }
        world.at(10, becomes: "b")
        world.run(until: 20)
        #expect(world.taken == [])
        world.run(until: 60)
        #expect(world.taken == ["a", "b"])
    }

    @Test func theSinkIsLeftAloneAsLongAsItAsks() {
        var world = TellingWorld { $0 < 100 ? .refuses(retryAfter: .seconds(600)) : .accepts() }
        world.run(until: 600)
        #expect(world.attempts == 1)
        world.run(until: 700)
        #expect(world.taken == ["a"])
    }

    @Test func nobodyIsLeftAloneForMoreThanAnHour() {
        var world = TellingWorld { $0 < 100 ? .refuses(retryAfter: .seconds(1 << 40)) : .accepts() }
        world.run(until: 4000)
        #expect(world.taken == ["a"])
    }

    @Test func credentialsThatAreNotAcceptedAreNotTriedAgainSoon() {
        var world = TellingWorld { _ in .refuses(isDenied: true) }
        world.run(until: 140)
        #expect(world.attempts == 1)
        world.run(until: 304)
        #expect(world.attempts >= 2)
    }

    @Test func withoutASinkNothingIsSent() {
        var world = TellingWorld()
        world.at(1, .configured(isOn: false, spread: .zero))
        world.at(10, becomes: "b")
        world.run(until: 10_000)
        #expect(world.attempts == 0)
        world.at(10_001, .configured(isOn: true, spread: .zero))
        world.run(until: 10_010)
        #expect(world.lines.count == 2 && world.taken == ["b"])
    }

    @Test func theFirstReportFollowsTheStart() {
        var world = TellingWorld()
        world.run(until: 10)
        #expect(world.taken == ["a"])
    }

    // MARK: A fleet

    /// The hosts of a fleet obey at the same time, and each tells it in a minute of its own.
    @Test func theTurnsOfAFleetAreSpreadOverAMinute() {
        var seconds: [Int64] = []
        for seed in UInt64(1)...600 {
            var world = TellingWorld(seed: seed, spread: .seconds(60))
            world.at(300, becomes: "b", isSettled: false)
            world.at(310, becomes: "c")
            world.run(until: 400)
            #expect(world.taken == ["a", "c"])
            seconds += world.tries.last.map { [$0.second] } ?? []
        }
        #expect(seconds.allSatisfy { (310...375).contains($0) })
        let busiest = Dictionary(grouping: seconds, by: \.self).values.map(\.count).max()
        #expect(busiest ?? 0 < 30, "\(busiest ?? 0)")
    }

    /// Each tells what is so at its turn, once.
    @Test func aChangeBeforeTheTurnIsTold() {
        for seed in UInt64(1)...50 {
            var world = TellingWorld(seed: seed, spread: .seconds(60))
            world.at(300, becomes: "b")
            world.at(303, becomes: "c")
            world.run(until: 500)
            #expect(world.taken == ["a", "c"] || world.taken == ["a", "b", "c"])
        }
    }

    @Test func unitsThatStayOnTheirWayAreToldWithinThreeMinutes() {
        for seed in UInt64(1)...50 {
            var world = TellingWorld(seed: seed, spread: .seconds(60))
            world.at(300, becomes: "b", isSettled: false)
            world.run(until: 419)
            #expect(world.taken == ["a"])
            world.run(until: 481)
            #expect(world.taken == ["a", "b"])
        }
    }

    /// A restart of a cluster makes all tokens void: the logins of a fleet are spread, and the next put makes none.
    @Test func aLoginIsMadeAtTheTurnOfTheHost() {
        var logins: [Int64] = []
        for seed in UInt64(1)...200 {
            var world = TellingWorld(seed: seed, spread: .seconds(60)) {
                (300..<500).contains($0) ? .wantsLogin : .accepts()
            }
            world.at(300, becomes: "b")
            world.run(until: 499)
            #expect(world.taken == ["a", "b"])
            #expect(world.tries.count { $0.mayLogIn } == 1)
            logins += world.tries.filter(\.mayLogIn).map(\.second)
            world.at(600, becomes: "c")
            world.run(until: 700)
            #expect(world.tries.last?.mayLogIn == false)
        }
        #expect((logins.max() ?? 0) - (logins.min() ?? 0) > 60)
    }

    @Test func anotherSpreadBeginsAnew() {
        var world = TellingWorld()
        world.at(100, .configured(isOn: true, spread: .seconds(60)))
        world.run(until: 200)
        #expect(world.taken == ["a", "a"])
    }
}
