import CivilTime
import Decision
import FlagSources
import Testing

/// Which hints of a stream are passed on: a stream must not cause endless fetches, and no change may be
/// missed.
@Suite struct HintTests {
    /// A stream that hints each millisecond for ten minutes.
    @Test(arguments: [(60, 5.0), (3600, 5.0), (5, 5.0), (1, 1.0)])
    func anEndlessStreamOfHintsLeadsToTenFetchesAndThenOneEachPeriod(
        _ interval: Int, _ period: Double
    ) {
        var stream = StreamTranscript(interval: .seconds(interval))
        stream.at(0, .started)
        var hints: [Double] = []
        if stream.at(0, .opened).contains(.hint) { hints.append(0) }
        for millisecond in 1...600_000 {
            let now = Double(millisecond) / 1000
            let effects = stream.at(now, .received(.hint))
            if effects.contains(.hint) { hints.append(now) }
        }
        #expect(hints.prefix(10).allSatisfy { $0 < 0.01 })
        #expect(hints.count <= 10 + Int(600 / period))
        #expect(hints.count >= 9 + Int(600 / period))
        for (hint, next) in zip(hints.dropFirst(9), hints.dropFirst(10)) {
            #expect(next - hint > period - 0.02)
        }
    }

    /// The hints of a watch concern flags of this host: a pair at once, and never more than four within a
    /// second.
    @Test func hintsAboutKeysOfThisHostAreAtMostFourASecond() {
        var stream = StreamTranscript(hints: .ofKeys)
        stream.at(0, .started)
        var hints: [Double] = stream.at(0, .opened).contains(.hint) ? [0] : []
        for millisecond in 1...60_000 {
            let now = Double(millisecond) / 1000
            if stream.at(now, .received(.hint)).contains(.hint) { hints.append(now) }
        }
        #expect(hints.prefix(2).allSatisfy { $0 < 0.01 })
        #expect(hints.count > 170)
        for (hint, later) in zip(hints, hints.dropFirst(4)) { #expect(later - hint >= 1) }
    }

    @Test func aHintThatHasToWaitIsPassedOnInItsTime() {
        var stream = StreamTranscript()
        stream.at(0, .started)
        stream.at(0, .opened)
        for _ in 0..<12 { stream.at(0, .received(.hint)) }
        #expect(stream.text.split(separator: "\n").filter { $0.hasSuffix("  hint") }.count == 10)
        #expect(stream.wakesAt == 5)
        #expect(stream.wakeUp() == [.hint, .sleep(Boottime(microseconds: 10_000_000))])
        #expect(!stream.wakeUp().contains(.hint))
    }

    @Test func aQuietTimeRefillsTheHintAllowance() {
        var stream = StreamTranscript(silence: .seconds(100_000))
        stream.at(0, .started)
        stream.at(0, .opened)
        for _ in 0..<100 { stream.at(1, .received(.hint)) }
        var count = 0
        for _ in 0..<100 {
            let effects = stream.at(10_000, .received(.hint))
            if effects.contains(.hint) { count += 1 }
        }
        #expect(count == 10)
    }

    /// Hints of a stream cause no fetch before the Retry-After of a poll is over.
    @Test func hintsWaitUntilRetryAfterIsOver() {
        var stream = StreamTranscript()
        stream.at(0, .started)
        stream.at(0, .opened)
        stream.at(1, .retryLater(.seconds(40)))
        #expect(!stream.at(2, .received(.hint)).contains(.hint))
        #expect(!stream.at(40.9, .received(.hint)).contains(.hint))
        #expect(stream.wakesAt == 41)
        #expect(stream.wakeUp().contains(.hint))
        #expect(stream.at(42, .received(.hint)).contains(.hint))
    }

    @Test func aHintThatWaitsOutlivesItsConnection() {
        var stream = StreamTranscript()
        stream.at(0, .started)
        stream.at(0, .opened)
        stream.at(1, .retryLater(.seconds(40)))
        stream.at(2, .received(.hint))
        stream.at(3, .closed)
        #expect(stream.at(41, .woke).contains(.hint))
    }
}
