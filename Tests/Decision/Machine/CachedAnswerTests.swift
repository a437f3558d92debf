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
        play.machine.overview(at: play.now, HostCondition()).findings.map(\.sentence)
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

    private static let countdown =
        #"{"service_end": "countdown", "service_countdown": "2027-03-01T12:10:00Z"}"#

    /// A cache that says no `Age` repeats the `Date` of the server: such a clock once held an end for ever.
    @Test func aDateThatStandsStillHoldsNoEnd() throws {
        var play = try Transcript([try service()]).started()
        let date = play.now.wall - .seconds(3600)
        try play.at(1, "app", answers: Self.countdown, date: date)
        #expect(
            problems(of: play).contains { $0.contains("the server's clock is 60 minutes behind") })
        for minute in 1...9 {
            play.at(Double(minute * 60), .fetchEnded("app", .unchanged, date: date))
        }
        #expect(problems(of: play) == [])
        #expect(play.states(at: 600) == [.ended])
    }

    /// The `Date` of an answer from a cache says nothing of the time.
    @Test func aDateBehindAnAgeIsNoClock() throws {
        var play = try Transcript([try service()]).answered(Self.countdown)
        for minute in 1...9 {
            let date = play.trueTime(at: Double(minute * 60)) - .seconds(3600)
            play.at(
                Double(minute * 60),
                .fetchEnded("app", .unchanged, date: date, age: .seconds(3600)))
        }
        #expect(!problems(of: play).contains { $0.contains("clock") })
        #expect(play.states(at: 600) == [.ended])
    }

    /// What arrived from a cache is stored with the time at which its server confirmed it.
    @Test func aRestartDoesNotTakeTheArrivalForTheConfirmation() throws {
        var play = try Transcript([try service()]).started()
        let flags = try answer(ServiceEnd.no, fetchedAt: play.now.wall)
        let effects = play.at(0, .fetchEnded("app", .answer(flags), age: .seconds(500)))
        let stored = effects.compactMap { effect in
            if case .storeFlags(_, let answers) = effect { answers.first?.confirmedAt } else { nil }
        }
        #expect(stored == [play.now.wall - .seconds(500)])
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
