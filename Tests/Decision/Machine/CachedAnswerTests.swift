import CivilTime
import Decision
import Support
import Testing

/// Answers that have been in a cache on the way. Such a cache once answered for days: the flags counted as new at each
/// poll, and `max_stale` never came.
@Suite struct CachedAnswerTests {
    private static let warning =
        "source 'app': a cache on the way answers in place of the server: its Age is over two "
        + "intervals"

    private func age(of play: Transcript) -> Int64? {
        play.machine.view(of: "app", at: play.now)?.age?.wholeSeconds
    }

    private func problems(of play: Transcript) -> [String] {
        play.machine.overview(at: play.now, HostCondition()).problems.map(\.sentence)
    }

    @Test func theAgeOfFlagsBeginsWhereTheOriginConfirmedThem() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no)
        play.at(60, .fetchEnded("app", .unchanged))
        #expect(age(of: play) == 0)
        play.at(120, .fetchEnded("app", .unchanged, age: .seconds(20)))
        #expect(age(of: play) == 20)
        // An older answer takes nothing back, and confirms nothing newer.
        play.at(180, .fetchEnded("app", .unchanged, age: .seconds(500)))
        #expect(age(of: play) == 80)
        play.at(240, .fetchEnded("app", .unchanged))
        #expect(age(of: play) == 0)
    }

    @Test func flagsFromACacheBecomeStale() throws {
        let policy = Policy(maxStale: .seconds(600), whenStale: .closed)
        var play = try Transcript([try service(policy: policy)]).answered(ServiceEnd.no)
        for minute in 1...9 {
            play.at(
                Double(minute * 60), .fetchEnded("app", .unchanged, age: .seconds(minute * 60)))
        }
        #expect(!play.text.contains("stale-closed"))
        play.at(600, .fetchEnded("app", .unchanged, age: .seconds(600)))
        play.at(601, .woke)
        #expect(play.text.contains("publish shop maintenance closed stale-closed stale"))
        play.at(660, .fetchEnded("app", .unchanged, age: .seconds(5)))
        #expect(age(of: play) == 5)
        #expect(play.text.contains("log notice: shop: running (was maintenance)"))
    }

    @Test func anAgeOverTwoIntervalsIsAWarningUntilTheServerAnswers() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no)
        play.at(60, .fetchEnded("app", .unchanged, age: .seconds(120)))
        #expect(problems(of: play).isEmpty)
        play.at(120, .fetchEnded("app", .unchanged, age: .seconds(121)))
        #expect(problems(of: play) == [Self.warning])
        play.at(180, .fetchEnded("app", .unchanged, age: .seconds(181)))
        #expect(problems(of: play) == [Self.warning])
        #expect(play.text.split(separator: "log warning: \(Self.warning)").count == 2)
        play.at(240, .fetchEnded("app", .unchanged, age: .seconds(1)))
        #expect(problems(of: play).isEmpty)
    }

    /// They have a version and an end, which no cache can change.
    @Test func ofSignedFlagsAnAgeIsAWarningAlone() throws {
        var play = try Transcript.signed(try service(format: .switchObject(.whole)))
        try play.accept(0, signedOrder(Orders.open, version: 1, by: ["alice"]))
        play.at(60, .fetchEnded("app", .unchanged, age: .seconds(500)))
        #expect(age(of: play) == 0)
        #expect(problems(of: play).contains(Self.warning))
    }
}
