import CivilTime
import Decision
import FlagSources
import Support
import Testing

/// The machine of a stream by its transcripts, and what holds however the waits come out.
///
/// `connection`, `recovery` and `hints` are the folders of transcripts.
@Suite struct StreamMachineTests {
    @Test(arguments: TranscriptFile.all(in: "FlagSources/Stream/Transcripts"))
    func itDoesWhatItsTranscriptSays(_ file: TranscriptFile) throws {
        try file.play(TranscribedStream.self)
    }

    /// Below ceilings that double to the longest, for ever, and with full jitter.
    @Test func failuresBackOffForEver() {
        var waits: [[Double]] = []
        for seed in UInt64(0)..<100 {
            var stream = TranscribedStream(seed: seed)
            var now = 0.0
            stream.at(now, .started)
            for attempt in 0..<40 {
                stream.at(now, .failed(Failure(.unreachable, "the connection was lost")))
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
        var stream = TranscribedStream()
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

    @Test func aRefusedStreamIsReportedAtOnceAndRetriedAtTheSlowestPace() {
        for seed in UInt64(0)..<100 {
            var stream = TranscribedStream(seed: seed).started()
            let effects = stream.at(1, .failed(Failure(.refused, "the server answers 403")))
            #expect(effects.first == .setProblem("the server answers 403"))
            #expect(stream.wakesAt.map { (151...301).contains($0) } == true)
        }
    }

    @Test(arguments: [(20, 20.0...22), (7200, 3600.0...3960), (0, 0.0...1), (-5, 0.0...1)])
    func aWaitThatTheServerAsksForIsObeyedForAnHourAtMost(
        _ seconds: Int, _ range: ClosedRange<Double>
    ) {
        var refused = TranscribedStream().started()
        refused.at(0, .failed(Failure(.unreachable, "busy", retryAfter: .seconds(seconds))))
        #expect(refused.wakesAt.map(range.contains) == true)

        var reported = TranscribedStream().started()
        reported.at(0, .opened)
        reported.at(0, .received(.retry(after: .seconds(seconds))))
        reported.at(0, .closed)
        #expect(reported.wakesAt.map(range.contains) == true)
    }

    @Test func aFloodIsGivenUpAndTheStreamThatBringsMuchInALongTimeIsNot() {
        var stream = TranscribedStream().started()
        stream.at(0, .opened)
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
}

extension StreamUpdate {
    static func bytes(_ count: Int) -> StreamUpdate { made { $0.bytes = count } }

    static var hint: StreamUpdate { made { $0.isHint = true } }

    static func retry(after wait: Duration) -> StreamUpdate { made { $0.retryAfter = wait } }

    private static func made(_ change: (inout StreamUpdate) -> Void) -> StreamUpdate {
        var update = StreamUpdate()
        update.bytes = 10
        change(&update)
        return update
    }
}
