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
    private func backedOff() -> TranscribedStream {
        var stream = TranscribedStream(seed: 4).started()
        for _ in 1..<12 {
            stream.at(stream.wakesAt ?? 0, .lost(Self.away))
            #expect(stream.wakeUp().contains(.connect))
        }
        stream.at(stream.wakesAt ?? 0, .lost(Self.away))
        return stream
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

    /// A server that answers polls and ends each stream: successful polls cause no earlier connection.
    @Test func aPollThatSucceedsAfterASuccessChangesNothing() {
        var stream = backedOff()
        let wakesAt = stream.wakesAt
        for _ in 0..<100 { #expect(stream.at((wakesAt ?? 0) - 1, .pollSucceeded).isEmpty) }
        #expect(stream.wakesAt == wakesAt)
        #expect(stream.machine.failures == 12)
    }

    /// A server that breaks each connection of a stream, and fails every second poll, causes at most twice
    /// the fetches that hints may cause.
    @Test func aHostileServerCannotMakeThePollsMany() {
        var stream = TranscribedStream()
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
        var stream = TranscribedStream(interval: .seconds(interval)).started()
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
        var stream = TranscribedStream(hints: .ofKeys).started()
        var hints: [Double] = stream.at(0, .opened).contains(.hint) ? [0] : []
        for millisecond in 1...60_000 {
            let now = Double(millisecond) / 1000
            if stream.at(now, .received(.hint)).contains(.hint) { hints.append(now) }
        }
        #expect(hints.prefix(2).allSatisfy { $0 < 0.01 })
        #expect(hints.count > 170)
        for (hint, later) in zip(hints, hints.dropFirst(4)) { #expect(later - hint >= 1) }
    }

    @Test func aQuietTimeRefillsTheHintAllowance() {
        var stream = TranscribedStream(silence: .seconds(100_000)).started()
        stream.at(0, .opened)
        for _ in 0..<100 { stream.at(1, .received(.hint)) }
        var count = 0
        for _ in 0..<100 {
            let effects = stream.at(10_000, .received(.hint))
            if effects.contains(.hint) { count += 1 }
        }
        #expect(count == 10)
    }
}
