import CivilTime
import Decision
import Testing
import VirtualWorld

/// The wait until the next poll: bounds that hold for any seed.
@Suite struct ScheduleTests {
    private static let seeds = UInt64(0)..<200
    private static let minute = Duration.seconds(60)
    private static let down = Failure(.unreachable, "down")
    private static let refused = Failure(.refused, "401")

    /// Checks the waits of a schedule with each seed; before its first answer, if it has not `answered`.
    private func forEachSeed(
        _ interval: Duration, answered: Bool = true,
        _ check: (inout Schedule, inout SeededRandom) -> Void
    ) {
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            var schedule = Schedule(interval: interval)
            if answered { _ = schedule.succeeded(using: &random) }
            check(&schedule, &random)
        }
    }

    /// The longest wait of any seed in this many failures after an answer.
    private func longestWait(
        _ interval: Duration, maxBackoff: Duration? = nil, failures: Int
    ) -> Duration {
        var longest = Duration.zero
        forEachSeed(interval) { schedule, random in
            schedule.maxBackoff = maxBackoff
            for _ in 0..<failures {
                longest = max(longest, schedule.failed(Self.down, using: &random))
            }
        }
        return longest
    }

    @Test func aSuccessWaitsTheIntervalGiveOrTakeATenth() {
        forEachSeed(Self.minute) { schedule, random in
            let wait = schedule.succeeded(using: &random)
            #expect(wait >= .seconds(54) && wait <= .seconds(66))
        }
    }

    /// However many attempts the first answer took.
    @Test(arguments: [0, 1, 9]) func theSecondPollOfAStartIsNoLaterThanTheInterval(_ failures: Int)
    {
        for interval in [0.1, 0.5, 1, 60, 86_400] as [Double] {
            forEachSeed(.seconds(interval), answered: false) { schedule, random in
                for _ in 0..<failures { _ = schedule.failed(Self.down, using: &random) }
                let wait = schedule.succeeded(using: &random)
                #expect(wait >= .seconds(min(1, interval)) && wait <= .seconds(interval))
                let next = schedule.succeeded(using: &random)
                #expect(next >= .seconds(interval * 0.9) && next <= .seconds(interval * 1.1))
            }
        }
    }

    @Test func aClosedServiceSetsThePace() {
        forEachSeed(Self.minute) { schedule, random in
            let wait = schedule.succeeded(pace: .seconds(10), using: &random)
            #expect(wait >= .seconds(9) && wait <= .seconds(11))
        }
        forEachSeed(Self.minute, answered: false) { schedule, random in
            let wait = schedule.succeeded(pace: .seconds(10), using: &random)
            #expect(wait >= .seconds(1) && wait <= .seconds(10))
        }
    }

    /// To be refused is a failure like another then: the host may not have its token yet when it starts.
    @Test(arguments: [down, refused])
    func beforeTheFirstAnswerItAsksAfterOneTwoFourSecondsUpToTheInterval(_ failure: Failure) {
        forEachSeed(.seconds(10), answered: false) { schedule, random in
            for ceiling in [1, 2, 4, 8, 10, 10, 10] {
                let wait = schedule.failed(failure, using: &random)
                #expect(wait >= .seconds(ceiling) / 2 && wait <= .seconds(ceiling))
            }
        }
    }

    @Test func failuresBackOffToFiveIntervalsWithFullJitter() {
        forEachSeed(.seconds(10)) { schedule, random in
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
            let longest = longestWait(interval, maxBackoff: limit, failures: 40)
            let most = max(interval, limit)
            #expect(longest <= most && longest > most * 0.9, "\(interval): \(longest)")
        }
    }

    @Test func noBackOffIsLongerThanFifteenMinutes() {
        let longest = longestWait(Self.minute * 10, failures: 100)
        #expect(longest <= .seconds(900) && longest > .seconds(800))
    }

    /// Otherwise a failing source with an interval of an hour would be polled more often.
    @Test func theLimitIsNeverBelowTheInterval() {
        let longest = longestWait(.seconds(3600), failures: 20)
        #expect(longest <= .seconds(3600) && longest > .seconds(3500))
    }

    @Test func beingRefusedAsksNoSoonerThanTheInterval() {
        for interval in [60, 600, 900, 3600, 86_400] as [Double] {
            let most = max(min(interval * 5, 900), interval * 1.1)
            forEachSeed(.seconds(interval)) { schedule, random in
                let wait = schedule.failed(Self.refused, using: &random)
                #expect(wait >= .seconds(interval * 0.9) && wait <= .seconds(most))
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
        let failure = Failure(.unreachable, "503", retryAfter: .seconds(asked))
        forEachSeed(.seconds(1)) { schedule, random in
            let wait = schedule.failed(failure, using: &random)
            #expect(wait >= .seconds(least) && wait <= max(.seconds(least) * 1.1, .seconds(1)))
        }
    }

    @Test func beingRefusedGoesToTheSlowestPaceAtOnceAndNoSlower() {
        forEachSeed(Self.minute) { schedule, random in
            let wait = schedule.failed(Self.refused, using: &random)
            #expect(wait >= .seconds(150) && wait <= .seconds(300))
        }
    }
}

/// The schedule under random sequences of outcomes, checked against the manual.
@Suite(.timeLimit(.minutes(5))) struct SchedulePropertyTests {
    private static let seeds = UInt64(0)..<200

    private func interval(_ random: inout SeededRandom) -> Duration {
        let exponent = Double.random(in: 0...1, using: &random)
        var milliseconds = 100.0
        // 100 ms … 24 h, evenly by orders of magnitude.
        for _ in 0..<Int(exponent * 195) { milliseconds *= 1.0726 }
        return .milliseconds(Int64(min(milliseconds, 86_400_000)))
    }

    /// A random outcome; failures come in bursts, as in outages.
    private func outcome(_ isDown: Bool, _ random: inout SeededRandom) -> Outcome {
        guard isDown else { return .unchanged }
        let kinds: [Failure.Kind] = [.unreachable, .refused, .invalid]
        let waits: [Duration?] = [
            nil, nil, nil, .zero, .seconds(-5), .milliseconds(1), .seconds(7), .seconds(3599),
            .seconds(7200), .seconds(Int64.max / 4),
        ]
        return .failure(
            Failure(
                kinds.randomElement(using: &random) ?? .invalid, "down",
                retryAfter: waits.randomElement(using: &random) ?? nil))
    }

    @Test func everyWaitIsWithinItsBounds() {
        var problems: [String] = []
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            let interval = interval(&random)
            var schedule = Schedule(interval: interval)
            var pace = Pace(interval: interval)
            var isDown = true
            for step in 0..<200 {
                if Double.random(in: 0..<1, using: &random) < 0.1 { isDown.toggle() }
                let outcome = outcome(isDown, &random)
                let own: Duration? = step.isMultiple(of: 3) ? .seconds(step + 1) : nil
                let wait: Duration
                switch outcome {
                case .failure(let failure): wait = schedule.failed(failure, using: &random)
                case .answer, .unchanged: wait = schedule.succeeded(pace: own, using: &random)
                }
                let bounds = pace.wait(after: outcome, pace: own)
                guard !bounds.contains(wait) else { continue }
                problems.append("seed \(seed), step \(step): \(wait) is not in \(bounds)")
            }
        }
        #expect(problems == [])
    }

    /// Each outcome leads to a next poll, neither at once nor too late.
    @Test func noWaitIsZeroAndNoneIsLongerThanTheManualSays() {
        var problems: [String] = []
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            let interval = interval(&random)
            var schedule = Schedule(interval: interval)
            let longest = max(interval * 1.1, .seconds(900), .seconds(3600)) + .microseconds(1)
            for _ in 0..<200 {
                let isDown = Bool.random(using: &random)
                let wait: Duration
                switch outcome(isDown, &random) {
                case .failure(let failure): wait = schedule.failed(failure, using: &random)
                case .answer, .unchanged: wait = schedule.succeeded(using: &random)
                }
                let isBounded = wait >= .milliseconds(50) && wait <= longest
                if !isBounded { problems.append("seed \(seed): \(wait)") }
            }
        }
        #expect(problems == [])
    }

    /// Hosts boot in one second. With ± 10 % alone their second polls came within 12 s, five times as many
    /// in a second as later, and it took an hour until they were spread.
    @Test func pollsOfManyHostsAreSpreadFromTheSecondOn() {
        // In each six seconds of the first half hour.
        var polls = [Int](repeating: 0, count: 300)
        for seed in UInt64(0)..<4000 {
            var random = SeededRandom(seed: seed)
            var schedule = Schedule(interval: .seconds(60))
            var time = Duration.milliseconds(Int64.random(in: 0..<1000, using: &random))
            while true {
                time += schedule.succeeded(using: &random)
                guard time < .seconds(6 * polls.count) else { break }
                polls[Int(time / .seconds(6))] += 1
            }
        }
        #expect(polls.allSatisfy { $0 < 500 }, "\(polls)")
        #expect(polls.dropFirst(12).allSatisfy { $0 > 250 }, "\(polls)")
    }

    /// A thousand hosts lose their source together; their next polls are spread.
    @Test func pollsOfManyHostsSpreadOutAfterAnOutage() {
        var waits: [Duration] = []
        for seed in UInt64(0)..<1000 {
            var random = SeededRandom(seed: seed)
            var schedule = Schedule(interval: .seconds(60))
            _ = schedule.succeeded(using: &random)
            for _ in 0..<3 { _ = schedule.failed(Failure(.unreachable, "x"), using: &random) }
            waits.append(schedule.failed(Failure(.unreachable, "x"), using: &random))
        }
        // Of 300 seconds each minute has its share.
        for minute in 0..<5 {
            let share = waits.filter {
                $0 >= .seconds(minute * 60) && $0 < .seconds(minute * 60 + 60)
            }
            #expect(share.count > 150 && share.count < 260, "minute \(minute): \(share.count)")
        }
    }
}
