import CivilTime
import Decision
import Testing

/// Progress, on which the sign of life for the watchdog depends.
@Suite struct ProgressTests {
    private static let running = #"{"service_end": "no"}"#

    @Test func aFetchGoesOnUntilItsTimeLimit() throws {
        let play = try Transcript([try service()]).started()
        #expect(play.machine.isProgressing(at: play.now))
        // The limit is 30 s, and a busy host may be five seconds late.
        for seconds in [30, 35] { #expect(play.isProgressing(after: .seconds(seconds))) }
        #expect(!play.isProgressing(after: .seconds(36)))
    }

    @Test func aTimerAheadIsProgressAndALostOneIsNot() throws {
        var play = try Transcript([try service()]).answered(Self.running, at: 1)
        #expect(play.isProgressing(after: .seconds(50)))
        #expect(!play.isProgressing(after: .seconds(80)))
        play.at(80, .woke)
        #expect(play.machine.isProgressing(at: play.now))
    }

    @Test func oneSourceThatHangsIsEnough() throws {
        let play = try Transcript([try service(sources: ["app", "other"])])
            .answered(Self.running, at: 1)
        #expect(play.isProgressing(after: .seconds(30)))
        #expect(!play.isProgressing(after: .seconds(40)))
    }

    @Test func aFailedSourceHasATimerAhead() throws {
        var play = try Transcript([try service()]).started()
        play.at(30, .fetchEnded(try named("app"), .failure(Failure(.unreachable, "timed out"))))
        #expect(play.machine.isProgressing(at: play.now))
    }

    @Test func theOverviewSaysHowThingsStand() throws {
        var play = try Transcript([try service(), try service("web", sources: ["app", "other"])])
            .answered(Self.running, at: 1)
        play.at(2, .fetchEnded(try named("other"), .failure(Failure(.unreachable, "timed out"))))
        play.at(12, .hinted(try named("app")))
        let overview = play.machine.overview(at: play.now)
        #expect(overview.services.map(\.state) == [.running, .undecided])
        #expect(overview.services.map(\.decidesWithin) == [nil, .seconds(18)])
        #expect(overview.sources.map(\.age) == [.seconds(11), nil])
        #expect(overview.sources.map { $0.nextPoll == nil } == [true, true])
        #expect(overview.sources.map(\.problem) == [nil, "timed out"])
        #expect(
            overview.problems.map(\.sentence) == [
                "source 'other': timed out; no valid flags are known yet"
            ])
    }
}

extension Transcript {
    /// The answer of the machine this long after the last event, if nothing else happens.
    fileprivate func isProgressing(after wait: Duration) -> Bool {
        machine.isProgressing(at: Now(wall: now.wall + wait, boot: now.boot + wait))
    }
}
