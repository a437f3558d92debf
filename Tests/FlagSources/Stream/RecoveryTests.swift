import CivilTime
import Decision
import FlagSources
import Requests
import Testing

/// How soon a stream is followed again after an outage of its server.
///
/// etcd was once killed and restarted several times within seconds. Each time the watch was open only briefly, so that
/// its back-off grew to minutes although polls succeeded. An order was seen only when the back-off was over.
@Suite struct RecoveryTests {
    private static let away = Failure(.unreachable, "cannot connect")

    /// A stream whose back-off has grown to minutes.
    private func backedOff() -> StreamTranscript {
        var stream = StreamTranscript(seed: 4).started()
        for _ in 1..<12 {
            stream.at(stream.wakesAt ?? 0, .lost(Self.away))
            #expect(stream.wakeUp().contains(.connect))
        }
        stream.at(stream.wakesAt ?? 0, .lost(Self.away))
        return stream
    }

    @Test func aPollThatSucceedsAfterFailuresOpensTheStreamAtOnce() {
        var stream = StreamTranscript().started()
        stream.at(1, .lost(Self.away))
        stream.at(1, .pollFailed)
        stream.at(1.01, .pollSucceeded)
        stream.at(1.02, .opened)
        stream.expect(
            """
            0s started
                connect
            1s lost: cannot connect
            1s poll failed
            1.01s poll succeeded
                connect
            1.02s opened
                hint
            """)
    }

    /// The next waits begin with the shortest one, however long the last wait was.
    @Test func theBackOffBeginsAnewWhenPollsSucceedAgain() {
        var stream = backedOff()
        let lostAt = (stream.wakesAt ?? 0) - 1
        #expect(stream.machine.failures == 12)
        stream.at(lostAt, .pollFailed)
        #expect(stream.at(lostAt, .pollSucceeded).contains(.connect))
        stream.at(lostAt, .lost(Self.away))
        #expect(stream.machine.failures == 1)
        #expect(stream.wakesAt.map { $0 - lostAt <= 1 } == true)
    }

    /// An open or opening stream continues; only its back-off is reset.
    @Test func aStreamThatIsOpenIsNotOpenedAnew() {
        var stream = StreamTranscript().started()
        stream.at(0, .lost(Self.away))
        stream.at(1, .woke)
        stream.at(1, .pollFailed)
        stream.at(2, .pollSucceeded)
        stream.at(3, .opened)
        stream.at(4, .pollFailed)
        stream.at(5, .pollSucceeded)
        stream.at(6, .closed)
        stream.expect(
            """
            0s started
                connect
            0s lost: cannot connect
            1s woke
                connect
            1s poll failed
            2s poll succeeded
            3s opened
                hint
            4s poll failed
            5s poll succeeded
            6s closed
            """)
        #expect(stream.wakesAt.map { (6...7).contains($0) } == true)
    }

    /// A server that answers polls and ends each stream: successful polls cause no earlier connection.
    @Test func aPollThatSucceedsAfterASuccessChangesNothing() {
        var stream = backedOff()
        let wakesAt = stream.wakesAt
        for _ in 0..<100 { #expect(stream.at((wakesAt ?? 0) - 1, .pollSucceeded).isEmpty) }
        #expect(stream.wakesAt == wakesAt)
        #expect(stream.machine.failures == 12)
    }

    /// A refusal, or a Retry-After, holds also after the server has recovered.
    @Test(arguments: [
        Failure(.refused, "the server answers 403 (forbidden)"),
        Failure(.unreachable, "the server answers 503 (unavailable)", retryAfter: .seconds(200)),
    ])
    func aPollThatSucceedsEndsNoWaitThatTheServerWants(_ failure: Failure) {
        var stream = StreamTranscript().started()
        stream.at(1, .failed(failure))
        stream.at(1, .pollFailed)
        #expect(!stream.at(2, .pollSucceeded).contains(.connect))
        #expect(stream.wakesAt.map { $0 >= 150 } == true)
        #expect(stream.wakeUp().contains(.connect))
    }

    /// Polls may be an hour apart, so that without the hint no poll would find the outage.
    @Test func theSecondLossInARowIsAHintSoThatAPollTellsWhetherTheServerIsAway() {
        var stream = StreamTranscript.opened()
        stream.at(2, .closed)
        stream.at(3, .woke)
        stream.at(3, .lost(Self.away))
        stream.expect(
            """
            2s closed
            3s woke
                connect
            3s lost: cannot connect
                set problem cannot connect
                hint
            """)
    }

    /// A server that answers is not down, whatever it answers.
    @Test func aRefusedConnectionIsNoHint() {
        var stream = StreamTranscript().started()
        for _ in 0..<5 {
            let failure = Failure(.unreachable, "the server answers 503 (unavailable)")
            #expect(!stream.at(stream.wakesAt ?? 0, .failed(failure)).contains(.hint))
            stream.wakeUp()
        }
    }

    /// A server that breaks each connection of a stream, and fails every second poll, causes at most twice
    /// the fetches that hints may cause.
    @Test func aHostileServerCannotMakeThePollsMany() {
        var stream = StreamTranscript()
        var (now, hints, connections) = (0.0, 0, 1)
        var isPollGood = false
        func count(_ effects: [StreamEffect]) -> Bool {
            connections += effects.count { $0 == .connect }
            return effects.contains(.hint)
        }
        stream.at(0, .started)
        while now < 600 {
            var isHinted = count(stream.at(now, .opened))
            isHinted = count(stream.at(now, .closed)) || isHinted
            if isHinted {
                hints += 1
                _ = count(stream.at(now, isPollGood ? .pollSucceeded : .pollFailed))
                isPollGood.toggle()
            }
            now = max(now, stream.wakesAt ?? .infinity)
            _ = count(stream.wakeUp())
        }
        #expect(hints <= 2 * (10 + 120))
        #expect(connections <= 2 * hints + 600)
    }
}

/// Which hints of a stream are passed on: a stream must not cause endless fetches, and no change may be missed.
@Suite struct HintTests {
    /// A stream that hints each millisecond for ten minutes.
    @Test(arguments: [(60, 5.0), (3600, 5.0), (5, 5.0), (1, 1.0)])
    func anEndlessStreamOfHintsLeadsToTenFetchesAndThenOneEachPeriod(
        _ interval: Int, _ period: Double
    ) {
        var stream = StreamTranscript(interval: .seconds(interval)).started()
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

    /// The hints of a watch concern flags of this host: a pair at once, and never more than four within a second.
    @Test func hintsAboutKeysOfThisHostAreAtMostFourASecond() {
        var stream = StreamTranscript(hints: .ofKeys).started()
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
        var stream = StreamTranscript().started()
        stream.at(0, .opened)
        for _ in 0..<12 { stream.at(0, .received(.hint)) }
        #expect(stream.text.split(separator: "\n").filter { $0.hasSuffix("  hint") }.count == 10)
        #expect(stream.wakesAt == 5)
        #expect(stream.wakeUp() == [.hint, .sleep(Boottime(microseconds: 10_000_000))])
        #expect(!stream.wakeUp().contains(.hint))
    }

    @Test func aQuietTimeRefillsTheHintAllowance() {
        var stream = StreamTranscript(silence: .seconds(100_000)).started()
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
        var stream = StreamTranscript().started()
        stream.at(0, .opened)
        stream.at(1, .retryLater(.seconds(40)))
        #expect(!stream.at(2, .received(.hint)).contains(.hint))
        #expect(!stream.at(40.9, .received(.hint)).contains(.hint))
        #expect(stream.wakesAt == 41)
        #expect(stream.wakeUp().contains(.hint))
        #expect(stream.at(42, .received(.hint)).contains(.hint))
    }

    @Test func aHintThatWaitsOutlivesItsConnection() {
        var stream = StreamTranscript().started()
        stream.at(0, .opened)
        stream.at(1, .retryLater(.seconds(40)))
        stream.at(2, .received(.hint))
        stream.at(3, .closed)
        #expect(stream.at(41, .woke).contains(.hint))
    }
}
