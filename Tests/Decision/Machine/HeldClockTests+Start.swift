import CivilTime
import Decision
import Support
import Testing

/// What has come, and what waits, after a start of the daemon.
extension HeldClockTests {
    /// An end that has come while the daemon did not run.
    private func restarted(_ tellsTime: [Bool]) throws -> Transcript {
        let memory = try Memory.stored(
            Self.countdown.replacing("02T12:00", with: "01T11:30"), state: .countdown)
        var services = [try service()]
        if tellsTime.count > 1 { services.append(try service("other", sources: ["other"])) }
        var plan = Plan(services)
        for (position, tells) in tellsTime.enumerated() { plan.sources[position].tellsTime = tells }
        return try Transcript(plan: plan, memory: memory).started()
    }

    /// A container, or a host without a bus: nobody ever calls its clock synchronised.
    @Test func whereNobodySaysAnythingAnEndComesAfterTheWait() throws {
        var play = try restarted([true])
        #expect(play.states == [.countdown])
        #expect(try play.reason("shop") == .clockNotBelieved)
        #expect(play.states(hangingUntil: 30) == [.countdown])
        #expect(play.states(hangingUntil: 31) == [.ended])
    }

    @Test func aWaitEndsOnceEachSourceHasAnsweredOrFailedTwice() throws {
        var play = try restarted([true, true])
        try play.at(1, "app", answers: Self.countdown.replacing("02T12:00", with: "01T11:30"))
        #expect(play.states.first == .countdown)
        let failure = Event.fetchEnded("other", .failure(Failure(.unreachable, "503")))
        #expect(play.states(at: 2, failure).first == .countdown)
        #expect(play.states(at: 4, failure).first == .ended)
    }

    @Test func aFileIsNotWaitedFor() throws {
        #expect(try restarted([false]).states == [.ended])
    }

    /// The clock was set back before a restart: until somebody says what time it is, what has come stays.
    @Test func aClockThatWasSetBackBeforeAStartTakesNothingBack() throws {
        var memory = try Memory.stored(
            Self.countdown, fetchedAt: "2027-02-01T12:00:00Z", state: .ended)
        let end = try Instant(rfc3339: Self.end)
        memory.ledger.value?.entries["shop"]?.passed = ["app": end]
        var play = try Transcript([try service()], memory: memory).started()
        #expect(play.states == [.ended])
        play.at(1, .fetchEnded("app", .unchanged, date: end + Self.day))
        #expect(play.states(hangingUntil: 60) == [.ended])
        play.stepClock(61, by: Self.day * 2)
        #expect(play.states == [.ended])
    }

    /// A restart before a countdown has ended changes nothing, and tells nothing.
    @Test func aWaitIsToldOnlyWhereItHoldsSomething() throws {
        let memory = try Memory.stored(Self.countdown, state: .countdown)
        let play = try Transcript([try service()], memory: memory).started()
        #expect(clockProblems(of: play) == [])
        #expect(play.text.contains("countdown open stored-flags days=1"))
    }

    /// A step that takes the place of an order to close changes nothing that is seen, and is stored all the same.
    @Test func aStepThatHasComeBehindAClosedGateStays() throws {
        let shop = try service(format: .switchObject(.whole))
        let flags = #"""
            {"state":"maintenance","seed":"1","rollout":[{"at":"2027-03-01T12:00:30Z","percent":100}]}
            """#
        var play = try Transcript([shop]).started()
        try play.at(1, "app", answers: #"{"state":"maintenance"}"#, date: play.trueTime(at: 1))
        try play.at(60, "app", answers: flags, date: play.trueTime(at: 60))
        #expect(play.states == [.maintenance])
        var memory = try Memory.stored(
            flags, fetchedAt: "2027-03-01T12:01:00Z", state: .maintenance)
        memory.ledger = .known(play.ledger)
        var next = try Transcript([shop], memory: memory, start: "2027-03-01T12:02:00Z")
        #expect(next.states(at: 0, .started) == [.maintenance])
    }
}
