import CivilTime
import Decision
import Testing

@Suite struct RetryTests {
    private static let seeds = UInt64(1)...50

    @Test(arguments: seeds) func aWaitIsHalfOfTheCeilingToAllOfIt(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var retry = Retry(first: .seconds(2), longest: .seconds(300))
        for ceiling in [2, 4, 8, 16, 32, 64, 128, 256, 300, 300] as [Int64] {
            let wait = retry.failed(retryAfter: nil, isRefused: false, using: &random)
            #expect((.milliseconds(ceiling * 500) ... .seconds(ceiling)).contains(wait), "\(wait)")
        }
        retry.succeeded()
        #expect(retry.failures == 0)
        #expect(retry.failed(retryAfter: nil, isRefused: false, using: &random) <= .seconds(2))
    }

    @Test(arguments: seeds) func aRefusalWaitsLongestAtOnce(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var retry = Retry(first: .seconds(2), longest: .seconds(300))
        let wait = retry.failed(retryAfter: nil, isRefused: true, using: &random)
        #expect((.seconds(150) ... .seconds(300)).contains(wait), "\(wait)")
    }

    /// Up to a tenth longer than it asks for, at most an hour, and never less than without it.
    @Test(arguments: seeds) func theOtherSideMayAskForMore(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        func wait(_ asked: Duration) -> Duration {
            var retry = Retry(first: .seconds(2), longest: .seconds(300))
            return retry.failed(retryAfter: asked, isRefused: false, using: &random)
        }
        #expect((.seconds(600) ... .seconds(660)).contains(wait(.seconds(600))))
        #expect(wait(.seconds(1 << 40)) == .seconds(3600))
        #expect((.seconds(1) ... .seconds(2)).contains(wait(.seconds(-5))))
        #expect((.seconds(1) ... .seconds(2)).contains(wait(.zero)))
    }

    @Test func aCeilingIsReachedFromAnyFirstWait() {
        let day = Duration.seconds(86_400)
        #expect(Retry.ceiling(after: 1, from: .milliseconds(100), to: day) == .milliseconds(100))
        #expect(Retry.ceiling(after: 18, from: .seconds(1), to: day) == day)
        #expect(Retry.ceiling(after: .max, from: day, to: day * 5) == day * 5)
        #expect((0...8).map(Retry.local) == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
    }
}
