import CivilTime
import Decision
import Support
import Testing

/// An error is never an order.
@Suite struct InvalidAnswerTests {
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
