import CivilTime
import Decision
import Support
import Testing

/// An error is never an order.
@Suite struct InvalidAnswerTests {
    @Test func anInvalidAnswerKeepsTheLastGoodFlagsAndIsSaidOnce() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "over"}"#)
        try play.at(60, "app", answers: #"{}"#)
        try play.at(120, "app", answers: #"{}"#)
        try play.at(180, "app", answers: #"{"service_end": true}"#)
        play.at(240, .fetchEnded("app", .unchanged))
        play.expect(
            #"""
            60s app answers {}
                publish shop ended closed invalid-answer #2 until 2027-03-02T00:01:00+00:00
                log warning: shop: ended: the last answer of source 'app' is invalid: key 'service_end' is missing; the last good flags stay in force
            120s app answers {}
            180s app answers {"service_end": true}
                publish shop ended closed invalid-answer #2 until 2027-03-02T00:01:00+00:00
                log warning: shop: the last answer of source 'app' is invalid: key 'service_end' is a boolean, not a string; the last good flags stay in force
            240s app unchanged (confirmed)
                publish shop ended closed flags #2 until 2027-03-02T00:01:00+00:00
                log notice: shop: ended: set by the flags of source 'app'
            """#)
    }

    @Test func aDateThatIsNoDateCountsDownWithUnknownDays() throws {
        var play = try Transcript([try service()]).waiting()
        try play.at(
            0, "app", answers: #"{"service_end": "countdown", "service_countdown": "soon"}"#)
        play.expect(
            #"""
            0s app answers {"service_end": "countdown", "service_countdown": "soon"} (stored, confirmed)
                remember and publish shop countdown open end-unreadable #2 until 2027-03-02T00:01:00+00:00
                log warning: shop: countdown (was undecided): source 'app' announces an end, but 'soon' is not a date; the days left are unknown
            """#)
    }

    @Test func aSourceThatFailsIsSaidOncePerCauseAndWhenItIsBack() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#)
        play.at(60, .fetchEnded("app", .failure(Failure(.unreachable, "no route"))))
        play.at(120, .fetchEnded("app", .failure(Failure(.unreachable, "no route"))))
        play.at(180, .fetchEnded("app", .failure(Failure(.refused, "the server says 401"))))
        play.at(240, .fetchEnded("app", .unchanged))
        play.expect(
            #"""
            60s app fails: no route
                log warning: source 'app': no route; the last good flags stay in force, retrying in 58 s
            120s app fails: no route
            180s app fails: the server says 401
                log warning: source 'app': the server says 401; the last good flags stay in force, retrying in 217 s
            240s app unchanged (confirmed)
                log info: source 'app' answers again
            """#)
    }

    /// Each service uses the newest answer that it can read. The older answer stays stored while it is needed.
    @Test func anAnswerThatOneServiceCannotReadStillMovesTheOther() throws {
        let blog = try service("blog", format: .status(.member("blog")))
        let shop = try service("shop", format: .status(.member("shop")))
        var play = try Transcript([blog, shop]).started()
        let open = #"{"apiInactive": false, "forceUpdate": false}"#
        let closed = #"{"apiInactive": true, "forceUpdate": false}"#
        try play.at(0, "app", answers: #"{"blog": \#(open), "shop": \#(open)}"#)
        try play.at(60, "app", answers: #"{"shop": \#(closed)}"#)
        try play.at(120, "app", answers: #"{"blog": \#(open), "shop": \#(closed)}"#)
        play.expect(
            #"""
            0s started
                remember blog=undecided#1 shop=undecided#1
                publish blog undecided - starting #1 until 2027-03-02T00:01:00+00:00
                publish shop undecided - starting #1 until 2027-03-02T00:01:00+00:00
                log notice: blog: undecided: waiting for the first answer since the start
                log notice: shop: undecided: waiting for the first answer since the start
                fetch app
            0s app answers {"blog": {"apiInactive": false, "forceUpdate": false}, "shop": {"apiInactive": false, "forceUpdate": false}} (stored, confirmed)
                remember blog=running#2 shop=running#2
                publish blog running open flags #2 until 2027-03-02T00:01:00+00:00
                publish shop running open flags #2 until 2027-03-02T00:01:00+00:00
                log notice: blog: running (was undecided): set by the flags of source 'app'
                log notice: shop: running (was undecided): set by the flags of source 'app'
            60s app answers {"shop": {"apiInactive": true, "forceUpdate": false}} (confirmed)
                store app: {"shop": {"apiInactive": true, "forceUpdate": false}} {"blog": {"apiInactive": false, "forceUpdate": false}, "shop": {"apiInactive": false, "forceUpdate": false}}
                remember blog=running#2 shop=maintenance#3
                publish shop maintenance closed flags #3 until 2027-03-02T00:01:00+00:00
                publish blog running open invalid-answer #2 until 2027-03-02T00:01:00+00:00
                log warning: blog: running: the last answer of source 'app' is invalid: key 'blog' is missing; the last good flags stay in force
                log notice: shop: maintenance (was running): set by the flags of source 'app'
            120s app answers {"blog": {"apiInactive": false, "forceUpdate": false}, "shop": {"apiInactive": true, "forceUpdate": false}} (stored, confirmed)
                publish blog running open flags #2 until 2027-03-02T00:01:00+00:00
                log notice: blog: running: set by the flags of source 'app'
            """#)
    }

    @Test func unchangedWithoutAnythingKnownIsAFailure() throws {
        var play = try Transcript([try service()]).waiting()
        play.at(0, .fetchEnded("app", .unchanged))
        play.expect(
            #"""
            0s app unchanged
                log warning: source 'app': the answer says 'unchanged', but nothing is known yet; no valid flags are known yet, retrying in 783 ms
            """#)
    }

    @Test func anAnswerThatIsNoFlagsAtAllIsAReasonOfItsOwn() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#)
        let page = Failure(.invalid, "the answer is a web page, not JSON")
        play.at(60, .fetchEnded("app", .failure(page)))
        play.at(120, .fetchEnded("app", .failure(page)))
        play.at(180, .fetchEnded("app", .unchanged))
        play.expect(
            #"""
            60s app fails: the answer is a web page, not JSON
                publish shop running open invalid-answer #2 until 2027-03-02T00:01:00+00:00
                log warning: shop: running: the last answer of source 'app' is invalid: the answer is a web page, not JSON; the last good flags stay in force
            120s app fails: the answer is a web page, not JSON
            180s app unchanged (confirmed)
                publish shop running open flags #2 until 2027-03-02T00:01:00+00:00
                log info: source 'app' answers again
                log notice: shop: running: set by the flags of source 'app'
            """#)
    }

    /// If one of two services could not read the newer answer, a restart once took its flags to be as old
    /// as their first fetch, so that they were stale and closed the service.
    @Test func aRestartDoesNotMakeFlagsOlderThatANewerAnswerCannotReplace() throws {
        let policy = Policy(maxStale: .seconds(3600), whenStale: .closed)
        let services = [
            try service("a", policy: policy),
            try service("b", format: .maintenance(.whole), policy: policy),
        ]
        var play = try Transcript(services).answered(
            #"{"service_end": "no", "isUnderMaintenance": false}"#)
        play.at(1800, .fetchEnded("app", .unchanged))
        let effects = try play.at(
            1860, "app", answers: #"{"service_end": 5, "isUnderMaintenance": false}"#)
        var stored: [Answer] = []
        for case .storeFlags(_, let answers) in effects { stored = answers }
        #expect(stored.map(\.confirmedAt) == [nil, try Instant(rfc3339: "2027-03-01T12:30:00Z")])

        let memory = Memory(flags: [
            "app": Memory.StoredFlags(
                answers: stored, confirmedAt: try Instant(rfc3339: "2027-03-01T12:31:00Z"))
        ])
        var next = try Transcript(services, memory: memory, start: "2027-03-01T12:59:00Z").started()
        #expect(next.states(hangingUntil: 1859) == [.running, .running])
        #expect(next.states(hangingUntil: 1861) == [.maintenance, .running])
    }
}

/// Extreme numbers and times: each leads to a decision or is rejected, and none crashes the daemon.
@Suite struct HostileNumberTests {
    private static let numbers = [
        "0", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e18",
        "1e19", "1e400", "-1e400", "1e-400", "1e999999999999999999999", "0.1",
    ]
    private static let times = [
        "0000-01-01T00:00:00Z", "0000-01-01T00:00:00+23:59", "0001-01-01T00:00:00-23:59",
        "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:60-23:59",
    ]

    @Test(arguments: numbers) func anyNumberInAFlagIsHandled(_ number: String) throws {
        let bodies = [
            #"{"state": "maintenance", "retry_after": \#(number), "version": \#(number)}"#,
            #"{"apiInactive": true, "forceUpdate": false, "retryInterval": \#(number)}"#,
        ]
        for (body, format) in zip(bodies, [Format.switchObject(.whole), .status(.whole)]) {
            var play = try Transcript([try service(format: format)]).started()
            try play.at(1, "app", answers: body)
            try play.at(2, "app", answers: body)
            #expect(play.machine.isProgressing(at: play.now))
        }
    }

    @Test(arguments: times, ["UTC", "Pacific/Apia", "America/Los_Angeles"])
    func anyTimeInAFlagLeadsToADecision(_ time: String, _ name: String) throws {
        let bodies = [
            #"{"state": "running", "ends_at": "\#(time)", "expires": "\#(time)"}"#,
            #"{"state": "running", "windows": [{"from": "0000-01-01T00:00:00Z", "until": "\#(time)"}]}"#,
            #"{"state": "running", "windows": [{"from": "\#(time)", "until": "9999-12-31T23:59:59Z"}]}"#,
            #"{"service_end": "countdown", "service_countdown": "\#(time)"}"#,
        ]
        let zone = name == "UTC" ? Zone.utc : try zone(name)
        let policy = Policy(maxStale: .seconds(600), whenStale: .closed)
        for body in bodies {
            let format = body.contains("service_end") ? Format.serviceEnd : .switchObject(.whole)
            var play = try Transcript([try service(format: format, policy: policy, zone: zone)])
            play.at(0, .started)
            try play.at(1, "app", answers: body)
            play.atNextEdge()
            play.at(90_000, .woke)
            #expect(play.states != [.undecided])
        }
    }

    @Test(arguments: times) func anyStoredTimeLeadsToADecision(_ time: String) throws {
        for boot in ["this-boot", "another-boot"] {
            let memory = try Memory.stored(
                #"{"service_end": "no"}"#, fetchedAt: time, state: .running, boot: boot)
            let policy = Policy(maxStale: .seconds(600), whenStale: .closed)
            var play = try Transcript([try service(policy: policy)], memory: memory).started()
            play.at(31, .woke)
            #expect(play.states != [.undecided])
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.max), .seconds(Int64.min)])
    func anyRetryAfterIsBounded(_ wait: Duration) throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#)
        let busy = Failure(.unreachable, "503", retryAfter: wait)
        play.at(60, .fetchEnded("app", .failure(busy)))
        #expect(play.machine.isProgressing(at: play.now))
        #expect(play.at(3800, .woke).contains { if case .fetch = $0 { true } else { false } })
    }
}
