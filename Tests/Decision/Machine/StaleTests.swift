import CivilTime
import Decision
import Support
import Testing

/// Flags that were not confirmed for longer than `max_stale`.
@Suite struct StaleTests {
    @Test func staleFlagsAreHeldAndSaySo() throws {
        let policy = Policy(maxStale: .seconds(600))
        var play = try Transcript([try service(policy: policy)]).answered(#"{"service_end": "no"}"#)
        play.hang(until: 599)
        play.at(599, .woke)
        play.at(600, .woke)
        play.at(700, .fetchEnded("app", .unchanged))
        play.expect(
            #"""
            599s woke
            600s woke
                publish shop running open stale-hold stale #2 until 2027-03-02T00:01:00+00:00
                log warning: shop: running: the flags of source 'app' are older than max_stale; they stay in force (when_stale = "hold")
            700s app unchanged (confirmed)
                publish shop running open flags #2 until 2027-03-01T12:22:40+00:00
                log notice: shop: running: set by the flags of source 'app'
            """#)
    }

    @Test func staleFlagsCloseWhereThePolicySaysSo() throws {
        let policy = Policy(maxStale: .seconds(600), whenStale: .closed)
        var play = try Transcript([try service(policy: policy)]).answered(#"{"service_end": "no"}"#)
        play.hang(until: 600)
        play.at(600, .woke)
        try play.at(700, "app", answers: #"{"service_end": "no"}"#)
        play.expect(
            #"""
            600s woke
                remember and publish shop maintenance closed stale-closed stale #3 until 2027-03-02T00:01:00+00:00
                log warning: shop: maintenance (was running): the flags of source 'app' are older than max_stale; when_stale closes the gate
            700s app answers {"service_end": "no"} (confirmed)
                remember and publish shop running open flags #4 until 2027-03-01T12:22:40+00:00
                log notice: shop: running (was maintenance): set by the flags of source 'app'
            """#)
    }

    @Test func staleFlagsOpenWhereThePolicySaysSo() throws {
        let policy = Policy(maxStale: .seconds(600), whenStale: .open)
        var play = try Transcript([try service(format: .maintenance(.whole), policy: policy)])
            .answered(#"{"isUnderMaintenance": true, "title": "Closed", "message": "Soon"}"#)
        play.hang(until: 600)
        play.at(600, .woke)
        play.expect(
            #"""
            600s woke
                remember and publish shop running open stale-open stale #3 until 2027-03-02T00:01:00+00:00
                log warning: shop: running (was maintenance): the flags of source 'app' are older than max_stale; when_stale opens the gate
            """#)
    }

    @Test func anAcceptedEndOutranksThePolicyForStaleFlags() throws {
        let policy = Policy(maxStale: .seconds(600), whenStale: .open)
        var play = try Transcript([try service(policy: policy)])
            .answered(#"{"service_end": "countdown", "service_countdown": "2027-03-01T12:20:00Z"}"#)
        play.hang(until: 600)
        play.at(600, .woke)
        play.hang(until: 1200)
        play.at(1200, .woke)
        play.expect(
            #"""
            600s woke
                publish shop countdown open stale-open days=0 stale #2 until 2027-03-01T12:21:00+00:00
                log warning: shop: countdown, 0 days left: the flags of source 'app' are older than max_stale; when_stale opens the gate
            1200s woke
                remember and publish shop ended closed end-passed days=0 stale #3 until 2027-03-02T00:01:00+00:00
                log notice: shop: ended (was countdown): the end that source 'app' announced for 2027-03-01T12:20:00+00:00 has passed
            """#)
    }

    /// `valid_until` moves with every confirmation, but is written only when the old one comes near.
    @Test func aPollThatConfirmsWritesNothingUntilTheOldLimit() throws {
        let policy = Policy(maxStale: .seconds(600))
        var play = try Transcript([try service(policy: policy)]).answered(#"{"service_end": "no"}"#)
        play.at(60, .fetchEnded("app", .unchanged))
        try play.at(590, "app", answers: #"{"service_end": "no"}"#)
        play.at(600, .woke)
        play.expect(
            #"""
            60s app unchanged (confirmed)
            590s app answers {"service_end": "no"} (confirmed)
            600s woke
                publish shop running open flags #2 until 2027-03-01T12:20:50+00:00
            """#)
    }

    @Test func theAgeOfStoredFlagsCountsFromTheirLastConfirmation() throws {
        var memory = try Memory.stored(
            #"{"service_end": "no"}"#, fetchedAt: "2027-02-01T10:00:00Z", state: .running)
        memory.flags["app"]?.confirmedAt = try Instant(rfc3339: "2027-03-01T11:59:00Z")
        let policy = Policy(maxStale: .seconds(600), whenStale: .closed)
        var play = try Transcript([try service(policy: policy)], memory: memory).started()
        play.hang(until: 539)
        play.at(539, .woke)
        play.at(540, .woke)
        play.expect(
            #"""
            0s started
                publish shop running open stored-flags #7 until 2027-03-01T12:10:00+00:00
                log notice: shop: running: source 'app' has not answered since the start; set by its stored flags
                fetch app
            539s woke
            540s woke
                remember and publish shop maintenance closed stale-closed stale #8 until 2027-03-02T00:01:00+00:00
                log warning: shop: maintenance (was running): the flags of source 'app' are older than max_stale; when_stale closes the gate
            """#)
    }

    /// Such an order was once seen only with the next edge of another switch, up to `max_stale` later.
    @Test func aClosingOrderCountsAgainAsSoonAsItsSourceIsBack() throws {
        let policy = Policy(maxStale: .seconds(600), whenStale: .open)
        var play = try Transcript(
            [try service(format: .status(.whole), policy: policy, sources: ["app", "other"])])
            .answered(#"{"apiInactive": false, "forceUpdate": false}"#)
        try play.at(0, "other", answers: #"{"apiInactive": true, "forceUpdate": false}"#)
        play.hang(until: 300)
        play.at(300, .fetchEnded("app", .unchanged))
        play.hang(until: 600)
        play.at(600, .woke)
        play.at(700, .fetchEnded("other", .unchanged))
        play.expect(
            #"""
            0s other answers {"apiInactive": true, "forceUpdate": false} (stored, confirmed)
                remember and publish shop maintenance closed flags #2 until 2027-03-01T12:11:00+00:00
                log notice: shop: maintenance (was undecided): set by the flags of source 'other'
            300s app unchanged (confirmed)
            600s woke
                remember and publish shop running open stale-open stale #3 until 2027-03-01T12:16:00+00:00
                log warning: shop: running (was maintenance): the flags of source 'other' are older than max_stale; when_stale opens the gate
            700s other unchanged (confirmed)
                remember and publish shop maintenance closed flags #4 until 2027-03-01T12:16:00+00:00
                log notice: shop: maintenance (was running): set by the flags of source 'other'
            """#)
    }

    /// A host that was off for longer than `max_stale` once closed its services at every start.
    @Test func storedFlagsAreNotStaleBeforeTheirSourceWasAsked() throws {
        let memory = try Memory.stored(
            #"{"service_end": "no"}"#, fetchedAt: "2027-02-20T10:00:00Z", state: .running)
        let policy = Policy(maxStale: .seconds(86_400), whenStale: .closed)
        var play = try Transcript([try service(policy: policy)], memory: memory).started()
        play.at(0.01, .fetchEnded("app", .failure(Failure(.unreachable, "no route"))))
        play.hang(until: 30)
        play.at(30, .woke)
        play.at(40, .fetchEnded("app", .unchanged))
        play.expect(
            #"""
            0s started
                publish shop running open stored-flags #7 until 2027-03-02T00:01:00+00:00
                log notice: shop: running: source 'app' has not answered since the start; set by its stored flags
                fetch app
            0.01s app fails: no route
                log warning: source 'app': no route; the last good flags stay in force, retrying in 783 ms
            30s woke
                remember and publish shop maintenance closed stale-closed stale #8 until 2027-03-02T00:01:00+00:00
                log warning: shop: maintenance (was running): the flags of source 'app' are older than max_stale; when_stale closes the gate
            40s app unchanged (confirmed)
                remember and publish shop running open flags #9 until 2027-03-02T00:01:00+00:00
                log info: source 'app' answers again
                log notice: shop: running (was maintenance): set by the flags of source 'app'
            """#)
    }

    @Test func theProblemOfAnySwitchThatAgreesIsTheReason() throws {
        let policy = Policy(maxStale: .seconds(600))
        var play = try Transcript(
            [try service(format: .status(.whole), policy: policy, sources: ["app", "other"])])
            .waiting()
        let open = #"{"apiInactive": false, "forceUpdate": false, "userMessage": "Hello"}"#
        try play.at(0, "app", answers: open)
        try play.at(0, "other", answers: open)
        try play.at(60, "other", answers: #"{"apiInactive": 1, "forceUpdate": false}"#)
        play.at(120, .fetchEnded("other", .unchanged))
        play.hang(until: 500)
        play.at(500, .fetchEnded("app", .unchanged))
        play.hang(until: 720)
        play.at(720, .woke)
        play.expect(
            #"""
            0s app answers {"apiInactive": false, "forceUpdate": false, "userMessage": "Hello"} (stored, confirmed)
                publish shop undecided - starting #1 until 2027-03-01T12:11:00+00:00
            0s other answers {"apiInactive": false, "forceUpdate": false, "userMessage": "Hello"} (stored, confirmed)
                remember and publish shop running open flags message=Hello #2 until 2027-03-01T12:11:00+00:00
                log notice: shop: running (was undecided): set by the flags of source 'app'
            60s other answers {"apiInactive": 1, "forceUpdate": false}
                publish shop running open invalid-answer message=Hello #2 until 2027-03-01T12:11:00+00:00
                log warning: shop: running: the last answer of source 'other' is invalid: key 'apiInactive' is a number, not a Boolean; the last good flags stay in force
                fetch app
            120s other unchanged (confirmed)
                publish shop running open flags message=Hello #2 until 2027-03-01T12:11:00+00:00
                log notice: shop: running: set by the flags of source 'app'
            500s app unchanged (confirmed)
            720s woke
                publish shop running open stale-hold message=Hello stale #2 until 2027-03-01T12:19:20+00:00
                log warning: shop: running: the flags of source 'other' are older than max_stale; they stay in force (when_stale = "hold")
            """#)
    }
}

/// Silent sources over restarts and sleeps of the host: a start reverts no decision, and a source that was
/// not polled is not silent.
struct SilenceTests {
    private static let open = #"{"state": "running"}"#
    private static let maintenance = #"{"state": "maintenance"}"#
    private static let expired = #"{"state": "running", "expires": "2027-03-01T11:30:00Z"}"#

    private static func shop(_ whenStale: WhenStale, maxStale: Duration? = .seconds(600)) throws
        -> Service
    {
        try service(
            format: .switchObject(.whole),
            policy: Policy(maxStale: maxStale, whenStale: whenStale, minClosed: .zero))
    }

    /// A restart once reverted for half a minute the opening or closing by stale flags.
    @Test(arguments: [
        (open, WhenStale.closed, State.maintenance),
        (expired, .closed, .maintenance),
        (maintenance, .open, .running),
        (open, .hold, .running),
    ])
    func aRestartKeepsTheDecisionThatSilenceMade(
        body: String, whenStale: WhenStale, stood: State
    ) throws {
        let memory = try Memory.stored(body, state: stood)
        var play = try Transcript([try Self.shop(whenStale)], memory: memory)
        #expect(play.states(at: 0, .started) == [stood])
        play.hang(until: 29)
        #expect(play.states(at: 29) == [stood])
        #expect(play.states(at: 31) == [stood])
    }

    /// A changed time zone makes the switch read its flags again, and changes no decision.
    @Test func aReloadKeepsTheDecisionThatSilenceMade() throws {
        var play = try Transcript([try Self.shop(.closed)]).answered(Self.open)
        play.hang(until: 600)
        #expect(play.states(at: 600) == [.maintenance])
        let shop = try Self.shop(.closed)
        let other = try service(
            format: .switchObject(.whole), policy: shop.policy, zone: zone("Asia/Tokyo"))
        #expect(play.states(at: 601, .reconfigured(Plan([other]))) == [.maintenance])
    }

    /// A host that had slept for longer than `max_stale` once closed its services, just before their sources answered.
    @Test func afterASleepASourceIsPolledBeforeItsFlagsAreStale() throws {
        var play = try Transcript([try Self.shop(.closed)]).answered(Self.open)
        #expect(play.states(at: 7200) == [.running])
        #expect(play.text.contains("fetch app"))
        play.at(7202, .fetchEnded("app", .failure(Failure(.unreachable, "no route"))))
        #expect(play.states == [.running])
        play.at(7204, .fetchEnded("app", .unchanged))
        #expect(play.states(hangingUntil: 7300) == [.running])
    }

    @Test func flagsAreStaleIfTheirSourceStaysSilentAfterTheSleep() throws {
        var play = try Transcript([try Self.shop(.closed)]).answered(Self.open)
        play.at(7200, .woke)
        #expect(play.states(hangingUntil: 7229) == [.running])
        #expect(play.states(hangingUntil: 7231) == [.maintenance])
    }

    /// An ended service does not reopen when its source is shut down too.
    @Test func anEndedServiceStaysEndedWhenItsSourceFallsSilent() throws {
        var play = try Transcript([try Self.shop(.open)]).answered(#"{"state": "ended"}"#)
        #expect(play.states(hangingUntil: 700) == [.ended])
        #expect(play.machine.publishedVerdict(of: "shop")?.verdict.isStale == true)
    }
}
