import CivilTime
import Decision
import Support
import Testing

/// Ends and windows are measured by the clock of the source that announced them, where the clock of this
/// host cannot be believed.
@Suite struct ServerClockTests {
    static let countdown =
        #"{"service_end": "countdown", "service_countdown": "2027-03-02T12:00:00Z"}"#
    static let day = Duration.seconds(86_400)

    /// A transcript of services whose servers have just announced an end a day ahead, with the right
    /// `Date`. Source `app` is asked every minute.
    func announced(
        _ sources: [String] = ["app"], memory: Memory = Memory(), isSynchronised: Bool? = false
    ) throws -> Transcript {
        let services = try sources.map { try service($0 == "app" ? "shop" : $0, sources: [$0]) }
        var play = try Transcript(services, memory: memory)
        play.isSynchronised = isSynchronised
        play.at(0, .started)
        for source in sources {
            try play.at(1, source, answers: Self.countdown, date: play.trueTime(at: 1))
        }
        play.forget()
        return play
    }

    // MARK: - One server

    /// Once a step by two days ended every service, although each answer said that it was early.
    @Test(arguments: [day * 2, .seconds(-3600)])
    func noStepMovesAnEndThatAFreshDateContradicts(_ step: Duration) throws {
        var play = try announced()
        play.stepClock(100, by: step)
        #expect(play.states == [.countdown])
        for minute in 2...1440 {
            try play.confirm(Double(minute * 60))
            #expect(play.states == [minute < 1440 ? .countdown : .ended], "minute \(minute)")
        }
    }

    @Test func theVerdictNamesTheClockAndTheWarningNamesTheServer() throws {
        var play = try announced()
        play.stepClock(100, by: Self.day * 2)
        play.at(120, .fetchEnded("app", .unchanged, date: play.trueTime(at: 120)))
        play.stepClock(130, by: Self.day * -2)
        play.expectWithoutFetches(
            #"""
            100s clock stepped
                publish shop countdown open server-clock days=1 #2 until 2027-03-04T00:01:00+00:00
                log warning: source 'app': the server's clock is 2 days behind; the clock of this host is not synchronised, so ends and windows follow the server's clock
                log warning: shop: countdown, 1 day left: the clock of this host is not trusted; ends and windows of source 'app' follow the clock of its server
            120s app unchanged
                confirm app
            130s clock stepped
                publish shop countdown open flags days=1 #2 until 2027-03-02T00:01:00+00:00
                log notice: shop: countdown, 1 day left: set by the flags of source 'app'
            """#)
    }

    @Test func theEndOfTheServersClockIsToldAsSuch() throws {
        var play = try announced()
        play.stepClock(100, by: .seconds(-3600))
        play.hang(until: 119)
        play.forget()
        let date = try Instant(rfc3339: "2027-03-02T12:00:00Z")
        play.at(120, .fetchEnded("app", .unchanged, date: date))
        play.expectWithoutFetches(
            #"""
            120s app unchanged
                remember and publish shop ended closed end-passed days=0 #3 until 2027-03-01T23:03:00+00:00
                confirm app
                log notice: shop: ended (was countdown): the end that source 'app' announced for 2027-03-02T12:00:00+00:00 has passed (by the server's clock; the clock of this host is not trusted)
            """#)
    }

    /// A `Date` is whole seconds, and an answer may be slow: an end that has come stays.
    @Test func slowAnswersMoveNoEnd() throws {
        var play = try announced()
        play.stepClock(100, by: Self.day * 2)
        let end = try Instant(rfc3339: "2027-03-02T12:00:00Z")
        play.at(120, .fetchEnded("app", .unchanged, date: end - .seconds(1)))
        #expect(play.states == [.countdown])
        #expect(play.states(hangingUntil: 122) == [.ended])
        for (seconds, age) in [(180.0, 31), (240, 2), (300, 45)] {
            let date = end + .seconds(Int64(seconds) - 121 - Int64(age))
            play.at(seconds, .fetchEnded("app", .unchanged, date: date))
            #expect(play.states == [.ended])
        }
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
                remember shop=countdown#2
                confirm app
                log warning: source 'app': the server's clock is 2 days ahead; killswitchd uses the clock of this host, which is synchronised
            120s app unchanged
                confirm app
            180s app unchanged
                confirm app
            """#)
        // The synchronisation is lost.
        play.isSynchronised = false
        #expect(play.states(at: 181) == [.ended])
        play.isSynchronised = true
        #expect(play.states(at: 190) == [.countdown])
    }

    /// The kernel's word comes a moment after a start or a step. Until then nothing changes, but a clock
    /// that was set is not taken for synchronised.
    @Test func untilTheKernelTellsTheLastKnownCounts() throws {
        var play = try announced(isSynchronised: nil)
        play.at(60, .fetchEnded("app", .unchanged, date: play.trueTime(at: 60) + Self.day * 2))
        #expect(play.states == [.countdown])
        play.isSynchronised = false
        #expect(play.states(at: 61) == [.ended])

        play = try announced(isSynchronised: true)
        play.isSynchronised = nil
        play.stepClock(100, by: Self.day * 2)
        #expect(play.states == [.countdown])
        play.isSynchronised = true
        #expect(play.states(at: 101) == [.ended])
    }

    // MARK: - Several servers

    /// Once the wrong clock of one server held the ends of all sources.
    @Test func theWrongClockOfOneServerMovesNoOtherEnd() throws {
        for wrong in [Self.day * 2, Self.day * -2] {
            var play = try announced(["app", "other", "silent"])
            for minute in 1...1440 {
                let seconds = Double(minute * 60)
                let date = play.trueTime(at: seconds)
                play.at(seconds - 1, .fetchEnded("app", .unchanged, date: date - .seconds(1)))
                play.at(seconds - 1, .fetchEnded("other", .unchanged, date: date + wrong))
                play.hang(until: seconds + 1)
                let state = minute < 1440 ? State.countdown : .ended
                #expect(play.states == [state, wrong > .zero ? .ended : .countdown, state])
            }
        }
    }

    /// The accepted end of a source that sends no `Date`, and an override of its service.
    @Test func theClockOfOneServerHoldsNothingOfASilentSource() throws {
        var memory = try Memory.stored(
            #"{"service_end": "countdown", "service_countdown": "2027-03-01T12:00:10Z"}"#,
            state: .countdown)
        memory.overrides = .known(["shop": try .order(.running, until: "2027-03-01T12:00:05Z")])
        let services = [try service(), try service("other", sources: ["other"])]
        var play = try Transcript(services, memory: memory).started()
        let date = try Instant(rfc3339: "2027-02-28T12:00:00Z")
        let answer = try answer(#"{"service_end": "no"}"#, fetchedAt: play.now.wall)
        play.at(1, .fetchEnded("other", .answer(answer), date: date))
        #expect(play.states(hangingUntil: 10) == [.countdown, .running])
        #expect(play.states(hangingUntil: 11) == [.ended, .running])
        let order = try Override.order(.maintenance)
        let effects = play.at(11, .force("shop", order, ifOpen: true))
        #expect(effects == [.reject("shop", order, .notOpen(.ended))])
    }

    /// A step while one server is silent for long: the other shows that the clock is wrong.
    @Test func aSilentSourceFollowsItsLastDateWhileAnotherContradicts() throws {
        var play = try announced(["app", "silent"])
        for minute in 1...5 { try play.confirm(Double(minute * 60)) }
        play.stepClock(310, by: Self.day * 2)
        #expect(play.states == [.countdown, .countdown])
        for minute in 6...1440 {
            try play.confirm(Double(minute * 60))
            let state = minute < 1440 ? State.countdown : .ended
            #expect(play.states == [state, state], "minute \(minute)")
        }
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

    /// A server whose clock shows a time before the build of this program tells no time.
    @Test func aDateBeforeTheBuildTellsNoTime() throws {
        var play = try announced()
        for minute in 1...1440 {
            let date = Instant(seconds: Int64(minute))
            play.at(Double(minute * 60), .fetchEnded("app", .unchanged, date: date))
        }
        #expect(play.states(hangingUntil: 86_401) == [.ended])
    }

    /// A board without a battery boots in 1970.
    @Test func aSourceWithoutADateHoldsItsEndsForAWhile() throws {
        let memory = try Memory.stored(
            Self.countdown, fetchedAt: "2027-02-01T10:00:00Z", state: .running, boot: "another-boot"
        )
        var play = try Transcript([try service()], memory: memory, start: "1970-01-01T00:00:10Z")
        play.at(0, .started)
        try play.at(1, "app", answers: Self.countdown)
        #expect(play.text.contains("countdown open clock-not-believed #"))
        play.forget()
        play.hang(until: 30)
        play.at(31, .woke)
        #expect(play.text.contains("countdown open flags days=20879 #"))
        // A `Date` counts at once.
        play.forget()
        let date = try Instant(rfc3339: "2027-03-02T12:00:00Z")
        play.at(60, .fetchEnded("app", .unchanged, date: date))
        #expect(play.text.contains("ended closed end-passed"))
    }
}

extension Transcript {
    /// Source `app` confirms its flags at this many seconds, with the right `Date`; then almost a minute passes.
    mutating func confirm(_ seconds: Double) throws {
        at(seconds, .fetchEnded("app", .unchanged, date: trueTime(at: seconds)))
        hang(until: seconds + 59)
    }
}

/// The clocks of servers over restarts and reboots.
extension ServerClockTests {
    /// The daemon is started again while the clock is wrong: nothing ends before the server has told so.
    @Test func aRestartRemembersThatTheClockIsWrong() throws {
        for stepsBefore in [true, false] {
            var play = try announced()
            if stepsBefore { play.stepClock(100, by: Self.day * 2) }
            var memory = try Memory.stored(
                Self.countdown, fetchedAt: "2027-03-01T12:00:01Z", state: .countdown)
            memory.ledger = .known(play.ledger)
            var next = try Transcript(
                [try service()], memory: memory, start: "2027-03-03T12:02:00Z")
            // The same boot, 110 s later.
            #expect(next.states(at: 110, .started) == [.countdown])
            let date = play.trueTime(at: 115)
            next.at(115, .fetchEnded("app", .unchanged, date: date))
            #expect(next.states(hangingUntil: 230) == [.countdown])
            // Without an answer the stored clock counts for two intervals.
            #expect(next.states(hangingUntil: 240) == [.ended])
        }
    }

    /// After a reboot the boot clock has begun anew: a stored clock tells nothing.
    @Test func aRebootForgetsTheClocksOfServers() throws {
        var memory = try Memory.stored(
            Self.countdown, fetchedAt: "2027-03-01T12:00:01Z", state: .countdown,
            boot: "another-boot")
        memory.ledger.value?.clocks = Ledger.Clocks(
            bootID: "another-boot", isSynchronised: false,
            servers: [
                "app": ServerClock(
                    date: try Instant(rfc3339: "2027-03-01T12:00:00Z"),
                    at: Boottime(microseconds: 1_000_000_000))
            ])
        var play = try Transcript([try service()], memory: memory, start: "2027-03-02T12:00:00Z")
        #expect(play.states(at: 0, .started) == [.ended])
    }

    /// The clocks are written when they change, not at every poll.
    @Test func aPollWritesNoClock() throws {
        var play = try announced()
        for minute in 1...60 {
            let seconds = Double(minute * 60)
            let date = play.trueTime(at: seconds) - .seconds(Int64(minute % 3))
            play.at(seconds, .fetchEnded("app", .unchanged, date: date))
        }
        #expect(!play.text.contains("remember"))
    }
}
