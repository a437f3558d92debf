import Decision
import Testing

/// The wait until the next poll: bounds that hold for any seed.
@Suite struct ScheduleTests {
    private static let seeds = UInt64(0)..<200
    private static let minute = Duration.seconds(60)
    private static let down = Failure(.unreachable, "down")

    @Test func aSuccessWaitsTheIntervalGiveOrTakeATenth() {
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            var schedule = Schedule(interval: Self.minute)
            let wait = schedule.succeeded(using: &random)
            #expect(wait >= .seconds(54) && wait <= .seconds(66))
        }
    }

    @Test func aClosedServiceSetsThePace() {
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            var schedule = Schedule(interval: Self.minute)
            let wait = schedule.succeeded(pace: .seconds(10), using: &random)
            #expect(wait >= .seconds(9) && wait <= .seconds(11))
        }
    }

    @Test func beforeTheFirstAnswerItAsksAfterOneTwoFourSecondsUpToTheInterval() {
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            var schedule = Schedule(interval: .seconds(10))
            for ceiling in [1, 2, 4, 8, 10, 10, 10] {
                let wait = schedule.failed(Self.down, using: &random)
                #expect(wait >= .seconds(ceiling) / 2 && wait <= .seconds(ceiling))
            }
        }
    }

    @Test func failuresBackOffToFiveIntervalsWithFullJitter() {
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            var schedule = Schedule(interval: .seconds(10))
            _ = schedule.succeeded(using: &random)
            for ceiling in [10, 20, 40, 50, 50, 50, 50] {
                let wait = schedule.failed(Self.down, using: &random)
                #expect(wait >= .seconds(1) && wait <= .seconds(ceiling))
            }
        }
    }

    /// `max_backoff` of any length: from the shortest interval to the highest ceiling.
    @Test(arguments: [1, 40, 600, 900] as [Double])
    func failuresBackOffToTheConfiguredLimit(_ seconds: Double) {
        let limit = Duration.seconds(seconds)
        for interval in [Duration.milliseconds(100), .seconds(10)] {
            var longest = Duration.zero
            for seed in Self.seeds {
                var random = SeededRandom(seed: seed)
                var schedule = Schedule(interval: interval, maxBackoff: limit)
                _ = schedule.succeeded(using: &random)
                for _ in 0..<40 {
                    longest = max(longest, schedule.failed(Self.down, using: &random))
                }
            }
            let most = max(interval, limit)
            #expect(longest <= most && longest > most * 0.9, "\(interval): \(longest)")
        }
    }

    @Test func noBackOffIsLongerThanFifteenMinutes() {
        var longest = Duration.zero
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            var schedule = Schedule(interval: Self.minute * 10)
            _ = schedule.succeeded(using: &random)
            for _ in 0..<100 {
                longest = max(longest, schedule.failed(Self.down, using: &random))
            }
        }
        #expect(longest <= .seconds(900) && longest > .seconds(800))
    }

    /// Otherwise a failing source with an interval of an hour would be polled more often.
    @Test func theLimitIsNeverBelowTheInterval() {
        let hour = Duration.seconds(3600)
        var longest = Duration.zero
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            var schedule = Schedule(interval: hour)
            _ = schedule.succeeded(using: &random)
            for _ in 0..<20 {
                longest = max(longest, schedule.failed(Self.down, using: &random))
            }
        }
        #expect(longest <= hour && longest > .seconds(3500))
    }

    @Test func beingRefusedAsksNoSoonerThanTheInterval() {
        for interval in [60, 600, 900, 3600, 86_400] as [Double] {
            for seed in Self.seeds {
                var random = SeededRandom(seed: seed)
                var schedule = Schedule(interval: .seconds(interval))
                _ = schedule.succeeded(using: &random)
                let wait = schedule.failed(Failure(.refused, "401"), using: &random)
                #expect(wait >= .seconds(interval * 0.9))
                #expect(
                    wait
                        <= max(min(.seconds(interval * 5), .seconds(900)), .seconds(interval * 1.1))
                )
            }
        }
    }

    /// Such as a token that the host does not have yet when it starts.
    @Test func beforeTheFirstAnswerBeingRefusedIsAFailureLikeAnother() {
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            var schedule = Schedule(interval: .seconds(10))
            for ceiling in [1, 2, 4, 8, 10, 10] {
                let wait = schedule.failed(Failure(.refused, "401"), using: &random)
                #expect(wait >= .seconds(ceiling) / 2 && wait <= .seconds(ceiling))
            }
        }
    }

    @Test func aSuccessResetsTheBackOff() {
        var random = SeededRandom(seed: 1)
        var schedule = Schedule(interval: .seconds(10))
        _ = schedule.succeeded(using: &random)
        for _ in 0..<10 { _ = schedule.failed(Self.down, using: &random) }
        _ = schedule.succeeded(using: &random)
        #expect(schedule.failed(Self.down, using: &random) <= .seconds(10))
    }

    @Test(arguments: [(30, 30), (7200, 3600), (0, 0), (-5, 0)])
    func retryAfterIsALowerBoundOfAtMostAnHour(_ asked: Int, _ least: Int) {
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            var schedule = Schedule(interval: .seconds(1))
            _ = schedule.succeeded(using: &random)
            let failure = Failure(.unreachable, "503", retryAfter: .seconds(asked))
            let wait = schedule.failed(failure, using: &random)
            #expect(wait >= .seconds(least))
            #expect(wait <= max(.seconds(least) * 1.1, .seconds(1)))
        }
    }

    @Test func beingRefusedGoesToTheSlowestPaceAtOnceAndNoSlower() {
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            var schedule = Schedule(interval: Self.minute)
            _ = schedule.succeeded(using: &random)
            let wait = schedule.failed(Failure(.refused, "401"), using: &random)
            #expect(wait >= .seconds(150) && wait <= .seconds(300))
        }
    }
}
