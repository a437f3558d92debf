import CivilTime
import Decision
import FlagSources
import Testing

@Suite struct StreamMachineTests {
    private static let lost = Failure(.unreachable, "the connection was lost")

    @Test func anOpenStreamHintsAtOnceSinceWhatWasSaidBeforeIsMissed() {
        var stream = StreamTranscript().started()
        stream.at(1, .opened)
        stream.at(2, .received(.bytes(10)))
        stream.at(3, .received(.hint))
        stream.expect(
            """
            0s started
                connect
            1s opened
                hint
            2s received 10 bytes
            3s received 10 bytes, a hint
                hint
            """)
    }

    @Test func aStreamThatEndsIsOpenedAgainAndHintsAgain() {
        var stream = StreamTranscript.opened(silence: .seconds(1000))
        stream.wakeUp()
        stream.at(600, .received(.bytes(1)))
        stream.at(601, .closed)
        stream.wakeUp()
        stream.at(603, .opened)
        stream.expect(
            """
            woken
            600s received 1 bytes
            601s closed
            woken
                connect
            603s opened
                hint
            """)
    }

    @Test func silenceEndsAStreamAndASlowByteDoesNot() {
        var stream = StreamTranscript.opened(at: 0, silence: .seconds(100))
        stream.at(10, .woke)
        for second in stride(from: 99.0, to: 990, by: 99) {
            #expect(!stream.at(second, .received(.bytes(1))).contains(.disconnect))
        }
        #expect(stream.wakesAt == 991)
        #expect(stream.wakeUp().first == .disconnect)
        #expect(stream.wakesAt.map { (991...992).contains($0) } == true)
        #expect(stream.wakeUp().first == .connect)
    }

    @Test func aServerThatNeverAnswersIsGivenUp() {
        var stream = StreamTranscript().started()
        #expect(stream.wakesAt == 30)
        stream.wakeUp()
        stream.wakeUp()
        stream.expect(
            """
            0s started
                connect
            woken
                disconnect
            woken
                connect
            """)
    }

    /// Below ceilings that double to the longest, for ever, and with full jitter.
    @Test func failuresBackOffForEver() {
        var waits: [[Double]] = []
        for seed in UInt64(0)..<100 {
            var stream = StreamTranscript(seed: seed)
            var now = 0.0
            stream.at(now, .started)
            for attempt in 0..<40 {
                stream.at(now, .failed(Self.lost))
                let next = stream.wakesAt ?? .infinity
                if waits.count == attempt { waits.append([]) }
                waits[attempt].append(next - now)
                now = next
                #expect(stream.wakeUp().contains(.connect))
            }
        }
        for (attempt, waits) in waits.enumerated() {
            let ceiling = min(Double(1 << min(attempt, 20)), 300)
            #expect(waits.allSatisfy { $0 >= 0 && $0 <= ceiling })
            #expect((waits.max() ?? 0) > ceiling * 0.9 && (waits.min() ?? 0) < ceiling * 0.1)
        }
    }

    /// A stream that the server ends right after it has opened does not reset the back-off.
    @Test func onlyAStreamThatLastsEndsTheBackOff() {
        var stream = StreamTranscript()
        var now = 0.0
        stream.at(now, .started)
        for _ in 0..<12 {
            stream.at(now, .opened)
            stream.at(now + 1, .closed)
            now = max(now + 1, stream.wakesAt ?? .infinity)
            stream.at(now, .woke)
        }
        let late = now
        #expect(late > 300)
        stream.at(late, .opened)
        stream.at(late + 10, .woke)
        stream.at(late + 11, .closed)
        #expect(stream.wakesAt.map { $0 - late <= 12 } == true)
    }

    @Test func theSecondFailureInARowIsReportedOnceAndALastingStreamClearsIt() {
        var stream = StreamTranscript().started()
        for cause in ["the first", "the connection was lost", "another", "and another"] {
            stream.at(stream.wakesAt ?? 0, .failed(Failure(.unreachable, cause)))
            stream.wakeUp()
        }
        stream.at(60, .opened)
        stream.at(70, .woke)
        #expect(
            stream.text.split(separator: "\n").filter { $0.contains("set problem") } == [
                "    set problem the connection was lost", "    set problem nil",
            ])
    }

    @Test func aRefusedStreamIsReportedAtOnceAndRetriedAtTheSlowestPace() {
        for seed in UInt64(0)..<100 {
            var stream = StreamTranscript(seed: seed).started()
            let effects = stream.at(1, .failed(Failure(.refused, "the server answers 403")))
            #expect(effects.first == .setProblem("the server answers 403"))
            #expect(stream.wakesAt.map { (151...301).contains($0) } == true)
        }
    }

    @Test(arguments: [(20, 20.0...22), (7200, 3600.0...3960), (0, 0.0...1), (-5, 0.0...1)])
    func aWaitThatTheServerAsksForIsObeyedForAnHourAtMost(
        _ seconds: Int, _ range: ClosedRange<Double>
    ) {
        var refused = StreamTranscript().started()
        refused.at(0, .failed(Failure(.unreachable, "busy", retryAfter: .seconds(seconds))))
        #expect(refused.wakesAt.map(range.contains) == true)

        var reported = StreamTranscript.opened(at: 0)
        reported.at(0, .received(.retry(after: .seconds(seconds))))
        reported.at(0, .closed)
        #expect(reported.wakesAt.map(range.contains) == true)
    }

    @Test func aStreamThatSaysItIsOverIsGivenUpThoughItsConnectionStaysOpen() {
        var stream = StreamTranscript.opened()
        stream.at(20, .received(.over(Failure(.unreachable, "the watch was cancelled"))))
        stream.wakeUp()
        stream.expect(
            """
            20s received 10 bytes, over: the watch was cancelled
                disconnect
            woken
                connect
            """)
    }

    @Test func aFloodIsGivenUpAndTheStreamThatBringsMuchInALongTimeIsNot() {
        var stream = StreamTranscript.opened(at: 0)
        for minute in 1...100 {
            let effects = stream.at(
                Double(minute) * 61, .received(.bytes(StreamMachine.floodLimit)))
            #expect(!effects.contains(.disconnect))
        }
        let effects = stream.at(100 * 61 + 30, .received(.bytes(1)))
        #expect(effects.first == .disconnect)
        #expect(
            effects.dropFirst().first
                == .setProblem("the stream brings more than 16777216 bytes in a minute"))
    }

    @Test func aRestartedStreamReconnectsAtOnceUnlessItBacksOff() {
        var stream = StreamTranscript.opened()
        stream.at(2, .started)
        stream.at(3, .failed(Self.lost))
        stream.at(3, .started)
        stream.expect(
            """
            2s started
                disconnect
                connect
            3s failed: the connection was lost
            3s started
            """)
    }

    @Test func eventsOfAClosedStreamAreIgnored() {
        var stream = StreamTranscript()
        stream.at(0, .closed)
        stream.at(0, .opened)
        stream.at(0, .started)
        stream.at(1, .failed(Self.lost))
        stream.at(1, .received(.hint))
        stream.at(1, .closed)
        stream.expect(
            """
            0s closed
            0s opened
            0s started
                connect
            1s failed: the connection was lost
            1s received 10 bytes, a hint
            1s closed
            """)
    }
}
