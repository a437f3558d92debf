import Decision
import JSON
import Support
import Testing

/// Members of flags that nobody reads: named where flags are tried, and never a misspelling where somebody reads them.
@Suite struct UnknownMembersTests {
    private func plan(_ formats: Format..., values: [RemoteValue] = []) throws -> Plan {
        var services = try formats.enumerated().map { try service("s\($0)", format: $1) }
        services[0].values = values
        return Plan(services)
    }

    private func unknown(in flags: JSON.Object, by plan: Plan) throws -> [String] {
        plan.unknownMembers(in: flags, of: "app")
    }

    @Test func whatAnyServiceReadsIsKnown() throws {
        let own = Format.switchObject(.whole)
        let flags: JSON.Object = [
            "state": "running", "end_at": 1, "$schema": "s", "x-note": "n", "limit": 3, "off": true,
        ]
        #expect(try unknown(in: flags, by: plan(own)) == ["end_at", "limit", "off"])
        let limit = RemoteValue(name: "limit", source: "app", key: "limit", type: .integer)
        let off = Format.boolean(BooleanFlag(key: "off", closedWhen: true))
        #expect(try unknown(in: flags, by: plan(own, off, values: [limit])) == ["end_at"])
    }

    @Test func theMembersOfObjectsAreNamedByTheirPlaces() throws {
        let flags: JSON.Object = [
            "shop": [
                "state": "running", "titel": "t", "windows": [["from": 1, "x-by": 1, "til": 1]],
                "rollout": [["at": 1, "share": 1]],
            ],
            "api": #"{"apiInactive": false, "forceUpdated": true}"#,
        ]
        #expect(
            try unknown(
                in: flags, by: plan(.switchObject(.member("shop")), .status(.member("api"))))
                == [
                    "shop.titel", "shop.windows[0].til", "shop.rollout[0].share",
                    "api.forceUpdated",
                ])
    }

    @Test func aWordAloneHasNoMembers() throws {
        #expect(try unknown(in: ["": "ended"], by: plan(.switchObject(.whole))) == [])
    }

    /// A value that another service reads is nobody's slip, although it looks like one.
    @Test func aKeyThatAnotherServiceReadsIsNoMisspelling() throws {
        let own = Format.switchObject(.whole)
        let other = Format.boolean(BooleanFlag(key: "titles", closedWhen: true))
        let flags = #"{"state": "running", "titles": false}"#
        let alone = try Transcript([service(format: own)]).started().receiving(flags, at: 1)
        #expect(alone.text.contains("did you mean 'title'?"))
        let both = try Transcript([service(format: own), service("other", format: other)])
            .started().receiving(flags, at: 1)
        #expect(!both.text.contains("did you mean"), "\(both.text)")
    }
}

/// Answers that are one value alone, by the whole machine.
@Suite struct ValueAloneTests {
    private func play(_ formats: Format..., defaults: JSON.Object = [:]) throws -> Transcript {
        var plan = Plan(
            try formats.enumerated().map { try service("s\($0)", format: $1) })
        plan.sources[0].defaults = defaults
        return try Transcript(plan: plan)
    }

    /// What a proxy says in place of the flags must not bring the defaults into force.
    @Test func noDefaultCountsBesideAValueAlone() throws {
        var play = try play(
            .switchObject(.whole), .serviceEnd, defaults: ["service_end": "over"])
        try play.at(1, "app", alone: "maintenance")
        #expect(play.machine.publishedVerdict(of: "s0")?.verdict.state == .maintenance)
        #expect(play.machine.publishedVerdict(of: "s1")?.verdict.gate != .closed)
        #expect(
            play.text.contains("key 'service_end' is missing: the answer is one value alone"),
            "\(play.text)")
    }

    @Test func anUnknownWordLeavesTheLastFlagsInForce() throws {
        var play = try play(.switchObject(.whole))
        try play.at(1, "app", alone: "maintenance")
        try play.at(61, "app", alone: "OK")
        #expect(play.machine.publishedVerdict(of: "s0")?.verdict.state == .maintenance)
        try play.at(121, "app", alone: "running")
        #expect(play.machine.publishedVerdict(of: "s0")?.verdict.state == .running)
        try play.at(181, "app", answers: #"{"state": "ended"}"#)
        #expect(play.machine.publishedVerdict(of: "s0")?.verdict.state == .ended)
        try play.at(241, "app", alone: "running")
        #expect(play.machine.publishedVerdict(of: "s0")?.verdict.state == .running)
    }

    @Test func eachBooleanIsAnOrder() throws {
        var play = try play(.boolean(BooleanFlag(key: nil, closedWhen: true, closedState: .ended)))
        try play.at(1, "app", alone: "on")
        #expect(play.machine.publishedVerdict(of: "s0")?.verdict.state == .ended)
        try play.at(61, "app", alone: "false")
        #expect(play.machine.publishedVerdict(of: "s0")?.verdict.state == .running)
    }
}

extension Transcript {
    /// Sends an answer that is a value alone.
    fileprivate mutating func at(
        _ seconds: Double, _ source: String, alone body: String
    ) throws {
        let answer = try Answer(
            body: Array(body.utf8), alone: .word, fetchedAt: trueTime(at: seconds))
        at(seconds, .fetchEnded(SourceName(stringLiteral: source), .answer(answer)))
    }
}
