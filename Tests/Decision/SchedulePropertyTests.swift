import CivilTime
import Decision
import Testing
import VirtualWorld

/// The schedule under random sequences of outcomes, checked against the manual.
@Suite(.timeLimit(.minutes(5))) struct SchedulePropertyTests {
    private static let seeds = UInt64(0)..<200

    /// A random interval between the shortest and the longest that a configuration may have.
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
