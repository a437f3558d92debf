import CivilTime
import Decision
import Support
import Testing

/// What a wrong clock does over time: nothing comes early, what has come stays, and the host says so.
@Suite struct HeldClockTests {
    static let end = "2027-03-02T12:00:00Z"
    static let countdown = #"{"service_end": "countdown", "service_countdown": "\#(end)"}"#
    static let day = Duration.seconds(86_400)

    /// A daemon that has just heard of an end a day ahead, with the right `Date`. Each source is asked every minute.
    func announced(
        _ sources: [String] = ["app"], isSynchronised: Bool? = false
    ) throws -> Transcript {
        let services = try sources.map { try service($0 == "app" ? "shop" : $0, sources: [$0]) }
        var play = try Transcript(services)
        play.isSynchronised = isSynchronised
        play.at(0, .started)
        for source in sources {
            try play.at(1, source, answers: Self.countdown, date: play.trueTime(at: 1))
        }
        play.forget()
        return play
    }

    func clockProblems(of play: Transcript) -> [String] {
        play.machine.overview(at: play.now).findings.filter { $0.kind == .clock }.map(\.sentence)
    }

    // MARK: - Steps

    /// Once a step by two days ended every service, although each answer said that it was early.
    @Test func aStepBringsNoEndThatAFreshDateContradicts() throws {
        var play = try announced()
        play.stepClock(100, by: Self.day * 2)
        play.at(120, .fetchEnded("app", .unchanged, date: play.trueTime(at: 120)))
        play.stepClock(130, by: Self.day * -2)
        play.expectWithoutFetches(
            #"""
            100s clock stepped
                publish shop countdown open clock-not-believed #2 until 2027-03-04T00:01:00+00:00
                log warning: shop: countdown: the clock of this host is not trusted; ends and windows of source 'app' neither begin nor end until it is
                log warning: source 'app': the server's clock is 2 days behind; ends and windows are held until the clock of this host is right
            120s app unchanged
                confirm app
            130s clock stepped
                publish shop countdown open flags days=1 #2 until 2027-03-02T00:01:00+00:00
                log notice: shop: countdown, 1 day left: set by the flags of source 'app'
                log info: over: source 'app': the server's clock is 2 days behind; ends and windows are held until the clock of this host is right
            """#)
    }

    /// The end waits for as long as the clock is wrong, and comes once it is right.
    @Test(arguments: [day * 2, .seconds(-7200)])
    func anEndWaitsUntilTheClockIsRight(_ step: Duration) throws {
        var play = try announced()
        play.stepClock(100, by: step)
        #expect(clockProblems(of: play).count >= 2)
        for minute in stride(from: 2, to: 1450, by: 1) { try play.confirm(Double(minute * 60)) }
        #expect(play.states == [.countdown])
        #expect(
            play.machine.overview(at: play.now).findings.first?.advice.contains("timedatectl")
                == true)
        play.stepClock(87_000, by: .zero - step)
        #expect(play.states == [.ended])
        #expect(clockProblems(of: play) == [])
    }

    /// A step back takes nothing back, also over a restart and after a reboot in 1970.
    @Test func whatHasComeStays() throws {
        var play = try announced()
        for minute in 1...1441 { try play.confirm(Double(minute * 60)) }
        #expect(play.states == [.ended])
        play.stepClock(86_520, by: Self.day * -2)
        #expect(play.states == [.ended])
        var memory = try Memory.stored(
            Self.countdown, fetchedAt: "2027-03-01T12:00:01Z", state: .ended)
        memory.ledger = .known(play.ledger)
        var next = try Transcript([try service()], memory: memory, start: "2027-02-27T12:00:00Z")
        #expect(next.states(at: 0, .started) == [.ended])
        next.at(1, .fetchEnded("app", .unchanged, date: play.trueTime(at: 86_530)))
        #expect(next.states(hangingUntil: 600) == [.ended])
        var board = try Transcript([try service()], memory: memory, start: "1970-01-01T00:00:10Z")
        #expect(board.states(at: 0, .started) == [.ended])
        #expect(board.states(hangingUntil: 600) == [.ended])
        #expect(clockProblems(of: board).first?.contains("earlier than the build") == true)
    }

    /// A window that has begun goes on, and one that is over does not begin again.
    @Test func aWindowThatHasBegunStays() throws {
        let windows = #"""
            {"state":"running","windows":[{"from":"2027-03-01T11:00:00Z","until":"2027-03-01T11:30:00Z"},
            {"from":"2027-03-01T12:10:00Z","until":"2027-03-01T12:20:00Z"}]}
            """#
        var play = try Transcript([try service(format: .switchObject(.whole))]).started()
        try play.at(1, "app", answers: windows, date: play.trueTime(at: 1))
        for minute in 1...10 { try play.confirm(Double(minute * 60)) }
        #expect(play.states == [.maintenance])
        // The first window would be open by this clock.
        play.stepClock(660, by: .seconds(-3600))
        #expect(play.states == [.maintenance])
        play.stepClock(661, by: .seconds(2 * 3600))
        #expect(play.states == [.maintenance])
        play.stepClock(662, by: .seconds(-3600))
        for minute in 12...20 { try play.confirm(Double(minute * 60)) }
        #expect(play.states == [.running])
    }

    /// The clock was set ahead while no server could be heard of. Then flags come with an end that only this clock has
    /// passed.
    @Test func newFlagsUnderAWrongClockEndNothing() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no)
        play.stepClock(600, by: Self.day * 2)
        try play.at(660, "app", answers: Self.countdown, date: play.trueTime(at: 660))
        #expect(play.states(hangingUntil: 700) == [.countdown])
        var memory = try Memory.stored(
            Self.countdown, fetchedAt: "2027-03-03T12:11:00Z", state: .countdown)
        memory.ledger = .known(play.ledger)
        var next = try Transcript([try service()], memory: memory, start: "2027-03-03T12:12:00Z")
        #expect(next.states(at: 0, .started) == [.countdown])
        next.at(1, .fetchEnded("app", .unchanged, date: play.trueTime(at: 721)))
        #expect(next.states(hangingUntil: 80) == [.countdown])
    }

    // MARK: - Synchronised clocks

    @Test func aSynchronisedClockOutweighsAServer() throws {
        var play = try announced(isSynchronised: true)
        for minute in 1...3 {
            let seconds = Double(minute * 60)
            let date = play.trueTime(at: seconds) + Self.day * 2
            play.at(seconds, .fetchEnded("app", .unchanged, date: date))
        }
        play.expectWithoutFetches(
            #"""
            60s app unchanged
                confirm app
                log warning: source 'app': the server's clock is 2 days ahead; the clock of this host counts, because it is synchronised
            120s app unchanged
                confirm app
            180s app unchanged
                confirm app
            """#)
        // The synchronisation is lost, and comes back.
        play.isSynchronised = false
        play.at(181, .woke)
        #expect(try play.reason("shop") == .clockNotBelieved)
        play.isSynchronised = true
        play.at(190, .woke)
        #expect(try play.reason("shop") == .flags)
    }

    /// Nobody has said it yet, or there is no bus to ask: a `Date` decides.
    @Test func anUnknownSynchronisationIsNone() throws {
        var play = try announced(isSynchronised: nil)
        play.stepClock(100, by: Self.day * 2)
        #expect(play.states == [.countdown])
        play.isSynchronised = true
        #expect(play.states(at: 101) == [.ended])
    }

    // MARK: - Several servers

    /// Once the wrong clock of one server held the ends of all sources.
    @Test(arguments: [day * 2, day * -2])
    func theWrongClockOfOneServerHoldsItsOwnEndsAlone(_ error: Duration) throws {
        var play = try announced(["app", "other", "silent"])
        for minute in 1...1441 {
            let seconds = Double(minute * 60)
            let date = play.trueTime(at: seconds)
            play.at(seconds - 1, .fetchEnded("app", .unchanged, date: date - .seconds(1)))
            play.at(seconds - 1, .fetchEnded("other", .unchanged, date: date + error))
            play.hang(until: seconds + 1)
        }
        #expect(play.states == [.ended, .countdown, .ended])
        #expect(
            clockProblems(of: play).contains { $0.hasPrefix("source 'other': the server's clock") })
    }

    // MARK: - No server

    @Test func withoutAServerTheWallClockCounts() throws {
        var play = try announced()
        #expect(play.states(hangingUntil: 86_398) == [.countdown])
        #expect(play.states(hangingUntil: 86_401) == [.ended])
    }

    /// A `Date` contradicts for two intervals; then a server that is gone counts no longer.
    @Test func anOldDateContradictsNothing() throws {
        var play = try announced()
        play.stepClock(100, by: Self.day * 2)
        #expect(play.states(hangingUntil: 121) == [.countdown])
        #expect(play.states(hangingUntil: 122) == [.ended])
    }

    /// A clock that was ahead once has stored a fetch. A server confirms that it is right now, or an operator says so.
    @Test func aFetchByAClockThatWasAheadIsForgotten() throws {
        for isConfirmed in [true, false] {
            var memory = try Memory.stored(
                Self.countdown, fetchedAt: "2029-03-01T12:00:00Z", state: .countdown)
            memory.ledger.value?.entries["shop"]?.passed = [:]
            var play = try Transcript([try service()], memory: memory).started()
            #expect(try play.reason("shop") == .clockNotBelieved)
            let text = "earlier than the last fetch of the stored flags"
            #expect(clockProblems(of: play).contains { $0.contains(text) })
            if isConfirmed {
                play.at(1, .fetchEnded("app", .unchanged, date: play.trueTime(at: 1)))
            } else {
                play.at(1, .forget("app", by: "root"))
                try play.at(2, "app", answers: Self.countdown)
            }
            #expect(try play.reason("shop") == .flags)
            #expect(clockProblems(of: play) == [])
        }
    }

    /// What has come is written when it comes, not at every poll.
    @Test func aPollWritesNothingOfTheClock() throws {
        var play = try announced()
        for minute in 1...60 { try play.confirm(Double(minute * 60)) }
        #expect(!play.text.contains("remember shop=countdown#3"))
        #expect(play.text.split(separator: "remember").count <= 2)
    }
}

extension Transcript {
    /// Source `app` confirms its flags at this many seconds, with the right `Date`; then almost a minute passes.
    mutating func confirm(_ seconds: Double) throws {
        at(seconds, .fetchEnded("app", .unchanged, date: trueTime(at: seconds)))
        hang(until: seconds + 59)
    }
}
