import CivilTime
import Decision
import JSON
import Support
import Testing

/// Typed values and the variant come from the same snapshot as the verdict.
@Suite struct RemoteValueTests {
    private func shop() throws -> Service {
        var shop = try service()
        shop.values = [
            RemoteValue(
                name: "limit", source: "app", key: "limit", type: .integer,
                fallback: .number(Number(10))),
            RemoteValue(name: "banner", source: "app", key: "banner", type: .string),
        ]
        shop.variant = RemoteValue(
            name: "variant", source: "app", key: "layout", type: .word(["1": "v1"]),
            fallback: .string("v2"))
        return shop
    }

    /// What is expected is the value as JSON, or the error.
    @Test(arguments: [
        (RemoteType.string, #""x""#, #""x""#),
        (.string, "1", "key 'k' is a number, not a string"),
        (.integer, "15.0", "15.0"),
        (.integer, #""42""#, "42"),
        (.integer, #"" 42""#, "key 'k' is ' 42', not an integer"),
        (.integer, "1e30", "key 'k' is the number '1e30', not an integer"),
        (.number, "1e30", "1e30"),
        (.number, "1e999", "key 'k' is the number '1e999', not a number"),
        (.number, "true", "key 'k' is a boolean, not a number"),
        (.boolean, #""On""#, "true"),
        (
            .string, #""\#(String(repeating: "x", count: 16_385))""#,
            "key 'k' has 16385 bytes, and at most 16384 are read"
        ),
        (
            .json, #"["\#(String(repeating: "x", count: 16_384))"]"#,
            "key 'k' has 16388 bytes, and at most 16384 are read"
        ),
        (.boolean, "0", "key 'k' is a number, not a Boolean"),
        (.json, #""[1, {}]""#, "[1,{}]"),
        (.json, "[1]", "[1]"),
        (.word(["true": "on"]), "true", #""on""#),
        (.word([:]), "2", "key 'k' is '2', not in the map"),
    ])
    func aFlagIsReadByItsType(type: RemoteType, flag: String, expected: String) throws {
        let flags = try FlagDocument.parse(Array(#"{"k": \#(flag)}"#.utf8))
        let plan = RemoteValue(name: "k", source: "app", key: "k", type: type)
        do {
            #expect(try plan.read(flags).serialized(.compact) == expected)
        } catch {
            #expect("\(error)" == expected)
        }
    }

    /// A value that is too large makes the answer invalid, as do values that are too large together.
    @Test func anAnswerWithTooLargeValuesIsInvalid() throws {
        var shop = try service()
        shop.values = (0..<5).map {
            RemoteValue(name: "v\($0)", source: "app", key: "v\($0)", type: .string)
        }
        var play = try Transcript([shop]).started()
        let answer = { (end: String, sizes: [Int]) in
            let values = sizes.enumerated().map {
                #""v\#($0)": "\#(String(repeating: "x", count: $1))""#
            }
            return #"{"service_end": "\#(end)", \#(values.joined(separator: ", "))}"#
        }
        try play.at(1, "app", answers: answer("no", [16_384, 16_384, 16_384, 16_384, 0]))
        #expect(play.states == [.running])
        for (sizes, problem) in [
            (
                [16_384, 16_384, 16_384, 16_384, 1],
                "key 'v4' makes the values of the service 65537 bytes long, and at most 65536 are read"
            ), ([1, 1, 1, 1, 20_000], "key 'v4' has 20000 bytes, and at most 16384 are read"),
        ] {
            #expect(try play.states(at: 2, "app", answers: answer("over", sizes)) == [.running])
            #expect(
                play.machine.publishedVerdict(of: shop.name)?.verdict.reason.sentence.contains(
                    problem)
                    == true)
        }
        #expect(
            try play.states(at: 4, "app", answers: answer("over", [1, 1, 1, 1, 1])) == [.ended])
    }
}

/// Answers of which some flags cannot be read.
@Suite struct UnreadableFlagTests {
    /// The answer as an OFREP source makes it: null for each unreadable flag.
    private static func answer(
        _ body: String, unreadable: [String] = [], isPartial: Bool = false, at now: Now
    ) throws -> Answer {
        var answer = try DecisionTests.answer(body, fetchedAt: now.wall)
        for key in unreadable { answer.unreadable.causes[ExactString(key)] = "is broken" }
        if isPartial { answer.unreadable.unlisted = "is missing, and a part of the answer too" }
        return answer
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let format: Format
        let body: String
        var unreadable: [String] = []
        var isPartial = false
        let isRead: Bool
        var testDescription: String { name }
    }

    @Test(arguments: [
        Case(
            name: "another flag", format: .serviceEnd,
            body: #"{"service_end": "over", "x": null}"#, unreadable: ["x"], isRead: true),
        Case(
            name: "its own flag", format: .serviceEnd, body: #"{"service_end": null}"#,
            unreadable: ["service_end"], isRead: false),
        Case(
            name: "a date that is not read", format: .serviceEnd,
            body: #"{"service_end": "over", "service_countdown": null}"#,
            unreadable: ["service_countdown"], isRead: true),
        Case(
            name: "a date that is read", format: .serviceEnd,
            body: #"{"service_end": "countdown", "service_countdown": null}"#,
            unreadable: ["service_countdown"], isRead: false),
        Case(
            name: "the first of two keys", format: .serviceEnd,
            body: #"{"service_end": null, "is_service_end": "over"}"#,
            unreadable: ["service_end"], isRead: false),
        Case(
            name: "the second of two keys", format: .serviceEnd,
            body: #"{"service_end": "over", "is_service_end": null}"#,
            unreadable: ["is_service_end"], isRead: true),
        Case(
            name: "the first of two keys may be given", format: .serviceEnd,
            body: #"{"is_service_end": "over"}"#, isPartial: true, isRead: false),
        Case(
            name: "all that is read is given", format: .serviceEnd,
            body: #"{"service_end": "over"}"#, isPartial: true, isRead: true),
        // Without the windows, the service would open.
        Case(
            name: "a member that may be left out", format: .switchObject(.whole),
            body: #"{"state": "ended", "windows": null}"#, unreadable: ["windows"], isRead: false),
        Case(
            name: "a member of another format", format: .switchObject(.whole),
            body: #"{"state": "ended", "userMessage": null}"#, unreadable: ["userMessage"],
            isRead: true),
        Case(
            name: "the object in a member", format: .switchObject(.member("shop")),
            body: #"{"shop": {"state": "ended"}, "message": null}"#, unreadable: ["message"],
            isPartial: true, isRead: true),
        Case(
            name: "a member that may hold the object",
            format: .switchObject(.memberOrWhole("shop")),
            body: #"{"shop": null, "state": "ended"}"#, unreadable: ["shop"], isRead: false),
    ])
    func onlyAFlagThatIsReadMakesTheAnswerInvalid(_ row: Case) throws {
        var play = try Transcript([try service(format: row.format)]).started()
        let answer = try Self.answer(
            row.body, unreadable: row.unreadable, isPartial: row.isPartial, at: play.now)
        play.at(1, .fetchEnded("app", .answer(answer)))
        #expect(play.states == [row.isRead ? .ended : .undecided])
    }

    /// A value that cannot be read stays as it was, with type `json` and with defaults too.
    @Test(arguments: [false, true])
    func aValueStaysAsItWasAndNoDefaultTakesItsPlace(isPartial: Bool) throws {
        var shop = try service()
        shop.values = [
            RemoteValue(name: "limit", source: "app", key: "limit", type: .json, fallback: 7)
        ]
        var plan = Plan([shop])
        plan.sources[0].defaults = ["limit": 8]
        var play = try Transcript(plan: plan).started()
        try play.at(1, "app", answers: #"{"service_end": "no", "limit": 3}"#)
        let body =
            isPartial ? #"{"service_end": "over"}"# : #"{"service_end": "over", "limit": null}"#
        let answer = try Self.answer(
            body, unreadable: isPartial ? [] : ["limit"], isPartial: isPartial, at: play.now)
        let effects = play.at(2, .fetchEnded("app", .answer(answer)))
        #expect(play.text.contains("publish shop ended closed flags values={\"limit\":3}"))
        #expect(!play.text.contains("the configured default"))
        // Both answers are stored: the order, and the older one for the value.
        let stored = effects.compactMap { effect in
            if case .storeFlags(_, let answers) = effect { answers } else { nil }
        }.first
        let memory = Memory(flags: [
            "app": Memory.StoredFlags(answers: try #require(stored), confirmedAt: play.now.wall)
        ])
        let next = try Transcript(plan: plan, memory: memory).started()
        #expect(next.text.contains("values={\"limit\":3}"))
    }

    /// The same bytes with another unreadable flag are another answer.
    @Test func anAnswerThatBecomesReadableIsNoRepeat() throws {
        let format = Format.switchObject(.whole)
        var play = try Transcript([try service(format: format)])
        let (body, app): (String, SourceName) = (#"{"state":"ended","message":null}"#, "app")
        play.at(0, .started)
        let broken = try Self.answer(body, unreadable: ["message"], at: play.now)
        play.at(1, .fetchEnded(app, .answer(broken)))
        play.at(2, .fetchEnded(app, .answer(try Self.answer(body, at: play.now))))
        #expect(play.states == [.ended])
        play.at(3, .fetchEnded(app, .answer(broken)))
        #expect(play.machine.publishedVerdict(of: "shop")?.verdict.reason.slug == .invalidAnswer)
    }
}
