import CivilTime
import Decision
import Support
import Testing

/// The ways around the host guard: a mistake, or somebody who holds a source, spreads the closings
/// so that no single event closes too many services.
struct GuardEvasionTests {
    static let names = ["a", "b", "c"]
    static let open = #"{"service_end": "no"}"#
    static let ended = #"{"service_end": "yes"}"#

    static func ends(at time: String) -> String {
        #"{"service_end": "countdown", "service_countdown": "2027-03-01T\#(time)Z"}"#
    }

    /// A plan in which each service has a source of its own name.
    static func apart(_ names: [String], limit: Int?, format: Format = .serviceEnd) throws -> Plan {
        var plan = Plan(
            try names.map {
                try service($0, format: format, policy: Policy(minClosed: .zero), sources: [$0])
            })
        plan.guardLimits.count = limit
        return plan
    }

    static func runningApart(limit: Int?) throws -> Transcript {
        var transcript = try Transcript(plan: apart(names, limit: limit)).started()
        for name in names { try transcript.at(1, name, answers: open) }
        return transcript
    }

    /// Services of one source, each of which reads a key of its name.
    static func runningByOwnKeys() throws -> Transcript {
        var plan = try HostGuardTests.plan(Self.names, limit: 1)
        for (index, name) in Self.names.enumerated() {
            plan.services[index].switches[0].format = .serviceEnd(
                endKeys: [name], countdownKey: "\(name)_at")
        }
        return try Transcript(plan: plan).answered(#"{"a": "no", "b": "no", "c": "no"}"#, at: 1)
    }

    static func windows(_ plan: [String], limit: Int?) throws -> Transcript {
        let plan = try HostGuardTests.plan(plan, limit: limit, format: .switchObject(.whole))
        return try Transcript(plan: plan).answered(#"{"state": "running"}"#, at: 1)
    }

    static func announcing(_ window: String) -> String {
        #"{"state": "running", "windows": [{\#(window)}]}"#
    }

    // MARK: - Ends and windows

    /// Every service ended two seconds after such an answer: an end was no cause.
    @Test func anEndInTwoSecondsIsHeld() throws {
        var transcript = try HostGuardTests.running(Self.names, limit: 1)
        try transcript.at(2, "app", answers: Self.ends(at: "12:00:04"))
        #expect(transcript.states(at: 4) == [.countdown, .countdown, .countdown])
        #expect(transcript.text.contains("publish a countdown open closing-held"))
    }

    @Test func aWindowInTwoSecondsIsHeld() throws {
        var transcript = try Self.windows(Self.names, limit: 1)
        let window = #""from": "2027-03-01T12:00:04Z", "until": "2027-03-01T13:00:00Z""#
        try transcript.at(2, "app", answers: Self.announcing(window))
        #expect(transcript.states(at: 4) == [.running, .running, .running])
    }

    /// One answer gives each service another end, more than `close_within` apart.
    @Test func endsThatOneAnswerSpreadsAreItsClosings() throws {
        var transcript = try Self.runningByOwnKeys()
        try transcript.at(
            2, "app",
            answers: """
                {"a": "countdown", "a_at": "2027-03-01T12:00:10Z",
                 "b": "countdown", "b_at": "2027-03-01T12:02:00Z",
                 "c": "countdown", "c_at": "2027-03-01T12:04:00Z"}
                """)
        for time in [10.0, 120, 240] { transcript.at(time, .woke) }
        #expect(transcript.states == [.ended, .countdown, .countdown])
    }

    @Test func endsThatWereKnownForTenMinutesAllComeTrueOnTime() throws {
        var transcript = try HostGuardTests.running(Self.names, limit: 1)
        try transcript.at(2, "app", answers: Self.ends(at: "12:10:02"))
        // Other flags with the same end do not make it a new one.
        try transcript.at(
            500, "app",
            answers: Self.ends(at: "12:10:02").dropLast() + #", "news": "1"}"#)
        #expect(transcript.states(at: 602) == [.ended, .ended, .ended])
    }

    @Test func windowsThatWereKnownForTenMinutesAllOpenOnTimeWhateverTheirTitles() throws {
        let window = #""from": "2027-03-01T12:10:02Z", "until": "2027-03-01T13:00:00Z""#
        var transcript = try Self.windows(Self.names, limit: 1)
        try transcript.at(2, "app", answers: Self.announcing(window))
        try transcript.at(602, "app", answers: Self.announcing(window + #", "title": "Now""#))
        #expect(transcript.states == [.maintenance, .maintenance, .maintenance])
    }

    @Test func anEndThatWasKnownForASecondLessIsHeld() throws {
        var transcript = try HostGuardTests.running(Self.names, limit: 1)
        try transcript.at(3, "app", answers: Self.ends(at: "12:10:02"))
        #expect(transcript.states(at: 602) == [.countdown, .countdown, .countdown])
    }

    @Test func anEndThatIsMovedIsKnownAnew() throws {
        var transcript = try HostGuardTests.running(Self.names, limit: 1)
        try transcript.at(2, "app", answers: Self.ends(at: "13:00:00"))
        try transcript.at(1000, "app", answers: Self.ends(at: "12:17:00"))
        #expect(transcript.states(at: 1020) == [.countdown, .countdown, .countdown])
    }

    /// A window of a second was announced in time, and becomes a day shortly before it opens.
    @Test func aWindowThatIsMadeLongerIsKnownAnew() throws {
        let from = #""from": "2027-03-01T12:20:00Z""#
        var transcript = try Self.windows(Self.names, limit: 1)
        try transcript.at(
            2, "app", answers: Self.announcing(from + #", "until": "2027-03-01T12:20:01Z""#))
        try transcript.at(
            1199, "app", answers: Self.announcing(from + #", "until": "2027-03-02T12:20:01Z""#))
        #expect(transcript.states(at: 1200) == [.running, .running, .running])
    }

    /// The clock of a board without a battery is decades late when the end is announced.
    @Test func aStepOfTheClockMakesNoEndKnownForLonger() throws {
        var transcript = try HostGuardTests.running(Self.names, limit: 1)
        try transcript.at(2, "app", answers: Self.ends(at: "20:00:00"))
        transcript.stepClock(3, by: .seconds(8 * 3600))
        #expect(transcript.states == [.countdown, .countdown, .countdown])
    }

    // MARK: - One after the other

    @Test func oneServiceForEachAnswerIsHeld() throws {
        var transcript = try Self.runningByOwnKeys()
        try transcript.at(2, "app", answers: #"{"a": "yes", "b": "no", "c": "no"}"#)
        try transcript.at(4, "app", answers: #"{"a": "yes", "b": "yes", "c": "no"}"#)
        try transcript.at(6, "app", answers: #"{"a": "yes", "b": "yes", "c": "yes"}"#)
        #expect(transcript.states == [.ended, .running, .running])
    }

    @Test func oneSourceForEachServiceIsHeld() throws {
        var transcript = try Self.runningApart(limit: 2)
        for name in Self.names { try transcript.at(2, name, answers: Self.ended) }
        #expect(transcript.states == [.ended, .ended, .running])
        #expect(
            transcript.text.contains(
                "3 services would close at once (close_at_once is 2); held open until "
                    + "'killswitchctl confirm': c; just closed: a, b"))
    }

    @Test func closingsAMinuteApartAreNotCountedTogether() throws {
        var transcript = try Self.runningApart(limit: 1)
        for (index, name) in Self.names.enumerated() {
            try transcript.at(2 + 60 * Double(index), name, answers: Self.ended)
        }
        #expect(transcript.states == [.ended, .ended, .ended])
    }

    /// A service counts once, however often it closes.
    @Test func aServiceThatClosesOpensAndClosesCountsOnce() throws {
        var transcript = try Self.runningApart(limit: 2)
        for time in [2.0, 4, 6] {
            try transcript.at(time, "a", answers: Self.ended)
            try transcript.at(time + 1, "a", answers: Self.open)
        }
        try transcript.at(8, "b", answers: Self.ended)
        try transcript.at(9, "c", answers: Self.ended)
        #expect(transcript.states == [.running, .ended, .running])
    }

    @Test func whatOperatorsCloseOrConfirmDoesNotCount() throws {
        var transcript = try Self.runningApart(limit: 1)
        let order = try Override.order(.maintenance, until: "2027-03-01T12:30:00Z")
        transcript.at(2, .force("a", order))
        try transcript.at(3, "b", answers: Self.ended)
        #expect(transcript.states == [.maintenance, .ended, .running])
        transcript.at(4, .force("c", order))
        #expect(transcript.states == [.maintenance, .ended, .maintenance])
    }
}
