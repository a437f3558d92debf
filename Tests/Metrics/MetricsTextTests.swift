import CivilTime
import Decision
import Metrics
import Support
import Testing

@Suite struct MetricsTextTests {
    @Test func theStateOfAServiceIsASetOfAllStates() throws {
        var host = try ObservedHost()
        try host.at(1, answers: #"{"state": "maintenance"}"#)
        #expect(
            host.samples(.serviceState) == [
                #"{service="shop",state="undecided"} 0"#, #"{service="shop",state="running"} 0"#,
                #"{service="shop",state="countdown"} 0"#,
                #"{service="shop",state="maintenance"} 1"#,
                #"{service="shop",state="update-required"} 0"#,
                #"{service="shop",state="ended"} 0"#,
            ])
        #expect(host.samples(.gateWantedOpen) == [#"{service="shop"} 0"#])
        #expect(host.samples(.reasonInfo) == [#"{service="shop",reason="flags"} 1"#])
        #expect(host.samples(.stateChanges) == [#"{service="shop"} 2"#])
    }

    /// No alert and no graph takes it for a closed one.
    @Test func aServiceThatIsOnlyObservedWouldClose() throws {
        var host = try ObservedHost(isEnforced: false)
        try host.at(1, answers: #"{"state": "maintenance"}"#)
        #expect(host.samples(.wouldClose) == [#"{service="shop"} 1"#])
        #expect(host.samples(.gateWantedOpen) == [])
        try host.at(60, answers: #"{"state": "running"}"#)
        #expect(host.samples(.wouldClose) == [#"{service="shop"} 0"#])
        #expect(try ObservedHost().samples(.wouldClose) == [])
    }

    @Test func anUndecidedServiceHasNoGate() throws {
        let host = try ObservedHost()
        #expect(host.samples(.serviceState).first == #"{service="shop",state="undecided"} 1"#)
        #expect(host.samples(.gateWantedOpen) == [])
        #expect(host.samples(.sourceUp) == [#"{source="app"} 0"#])
        #expect(host.samples(.flagsConfirmed) == [])
    }

    @Test func anEndIsTheDaysAndTheTime() throws {
        var host = try ObservedHost()
        try host.at(
            1, answers: #"{"state": "countdown", "ends_at": "2027-03-04T10:00:00Z", "version": 7}"#)
        #expect(host.samples(.daysLeft) == [#"{service="shop"} 3"#])
        #expect(host.samples(.end) == [#"{service="shop"} 1804154400"#])
        #expect(host.samples(.flagsInfo) == [#"{service="shop",source="app",version="7"} 1"#])
        #expect(host.samples(.gateWantedOpen) == [#"{service="shop"} 1"#])
    }

    @Test func fetchesAreCountedByResultSinceTheStart() throws {
        var host = try ObservedHost()
        let app: SourceName = "app"
        try host.at(1, answers: #"{"state": "running"}"#)
        host.at(60, .fetchEnded(app, .unchanged))
        host.at(120, .fetchEnded(app, .unchanged))
        host.at(180, .fetchEnded(app, .failure(Failure(.unreachable, "no route"))))
        host.at(240, .fetchEnded(app, .failure(Failure(.refused, "403"))))
        try host.at(300, answers: #"{"state": "word"}"#)
        #expect(
            host.samples(.fetches) == [
                #"{source="app",result="changed"} 1"#, #"{source="app",result="unchanged"} 2"#,
                #"{source="app",result="unreachable"} 1"#, #"{source="app",result="refused"} 1"#,
                #"{source="app",result="invalid"} 1"#,
            ])
        let start = try Instant(rfc3339: "2027-03-01T12:00:00Z").seconds
        #expect(host.samples(.fetchesCreated).allSatisfy { $0.hasSuffix(" \(start)") })
        #expect(host.samples(.flagsConfirmed) == [#"{source="app"} \#(start + 120)"#])
    }

    @Test func aSourceIsDownWhileItsFetchesFail() throws {
        var host = try ObservedHost()
        try host.at(1, answers: #"{"state": "running"}"#)
        #expect(host.samples(.sourceUp) == [#"{source="app"} 1"#])
        host.at(60, .fetchEnded("app", .failure(Failure(.unreachable, "no route"))))
        #expect(host.samples(.sourceUp) == [#"{source="app"} 0"#])
        host.at(90, .fetchEnded("app", .unchanged))
        #expect(host.samples(.sourceUp) == [#"{source="app"} 1"#])
    }

    /// Flags that are older than three intervals are an alarm: a longer pace that was asked for is none.
    @Test func theIntervalIsThePaceThatTheFlagsAskFor() throws {
        var host = try ObservedHost()
        try host.at(1, answers: #"{"state": "maintenance", "retry_after": 900}"#)
        #expect(host.samples(.sourceInterval) == [#"{source="app"} 900"#])
        try host.at(901, answers: #"{"state": "running"}"#)
        #expect(host.samples(.sourceInterval) == [#"{source="app"} 60"#])
    }

    @Test func anOrderHasItsBeginningAndItsEnd() throws {
        var host = try ObservedHost()
        try host.at(1, answers: #"{"state": "running"}"#)
        let order = try Override.order(.maintenance, from: host.now.wall)
        host.at(2, .force("shop", order))
        let since = order.since.seconds
        #expect(
            host.samples(.overrideSince) == [#"{service="shop",state="maintenance"} \#(since)"#])
        #expect(
            host.samples(.overrideEnd)
                == [#"{service="shop",state="maintenance"} \#(since + 3600)"#])
        #expect(host.samples(.reasonInfo) == [#"{service="shop",reason="override"} 1"#])
        #expect(!host.text.contains("cause\""))
        host.at(3, .release("shop", by: "root"))
        #expect(host.samples(.overrideEnd) == [])
    }

    @Test func heldClosingsAreCountedAndNamed() throws {
        var host = try ObservedHost(["a", "b"], limit: 1)
        try host.at(1, answers: #"{"state": "running"}"#)
        try host.at(2, answers: #"{"state": "ended"}"#)
        #expect(host.samples(.closingsHeld) == [" 2"])
        #expect(host.samples(.closingHeld) == [#"{service="a"} 1"#, #"{service="b"} 1"#])
        #expect(host.samples(.gateWantedOpen) == [#"{service="a"} 1"#, #"{service="b"} 1"#])
        #expect(host.samples(.problems).contains(#"{kind="closing-held"} 2"#))
        host.at(3, .confirm(["a"], by: "root"))
        #expect(host.samples(.closingsHeld) == [" 1"])
        #expect(host.samples(.closingHeld) == [#"{service="b"} 1"#])
    }

    @Test func aHeldStepAndItsGuardAreNamed() throws {
        var host = try ObservedHost(["a", "b"], guarded: "errors")
        try host.at(1, answers: #"{"state": "running"}"#)
        #expect(host.samples(.guardPasses) == [] && host.samples(.stepHeld) == [])
        let steps = #""rollout": [{"at": "2027-03-01T11:00:00Z", "percent": 100}]"#
        try host.at(10, answers: #"{"state": "maintenance", \#(steps)}"#)
        host.at(12, .woke)
        #expect(host.samples(.guardPasses) == [] && host.samples(.stepHeld) == [])
        host.at(13, .guardAnswered("errors", .holds("it is away")))
        #expect(host.samples(.guardPasses) == [#"{guard="errors"} 0"#])
        #expect(
            host.samples(.stepHeld) == [
                #"{service="a",guard="errors"} 1"#, #"{service="b",guard="errors"} 1"#,
            ])
        #expect(host.samples(.problems).contains(#"{kind="step-held"} 2"#))
        #expect(host.samples(.reasonInfo).contains(#"{service="a",reason="awaiting-guard"} 1"#))
        host.at(50, .woke)
        host.at(51, .guardAnswered("errors", .passes))
        #expect(host.samples(.guardPasses) == [#"{guard="errors"} 1"#])
        #expect(host.samples(.stepHeld) == [])
        host.at(951, .woke)
        #expect(host.samples(.guardPasses) == [])
    }

    @Test func aRefusedConfigurationIsToldAndCounted() throws {
        var host = try ObservedHost()
        #expect(host.samples(.configurationRefused) == [" 0"])
        host.condition.refusal = "a mistake"
        host.condition.findings = [Finding(.host, .configurationRefused, "a mistake")]
        #expect(host.samples(.configurationRefused) == [" 1"])
        #expect(host.samples(.problems).contains(#"{kind="configuration-refused"} 1"#))
    }

    @Test func theDaemonHasAVersionAndASignOfLife() throws {
        let host = try ObservedHost()
        #expect(host.samples(.buildInfo) == [#"{version="1.2.3"} 1"#])
        #expect(host.samples(.alive) == [" \(host.now.wall.seconds)"])
        #expect(host.samples(.movesGates) == [" 0"])
    }

    @Test func noSampleHasATimeStamp() throws {
        var host = try ObservedHost()
        try host.at(1, answers: #"{"state": "countdown", "ends_at": "2027-03-04T10:00:00Z"}"#)
        for line in host.text.split(separator: "\n") where !line.hasPrefix("#") {
            let end = line.split(separator: "}").last ?? ""
            #expect(end.split(separator: " ").count <= 2, "\(line)")
            #expect(line.hasPrefix("killswitch_"))
        }
    }

    /// Where the mark is the same, the metrics are written for their times alone.
    @Test func aNewMarkSaysThatSomethingIsNew() throws {
        var host = try ObservedHost(["a", "b"])
        try host.at(1, answers: #"{"state": "running"}"#)
        var known = host.mark
        let isNew = { (host: ObservedHost) in
            defer { known = host.mark }
            return host.mark != known
        }
        host.at(61, .fetchEnded("app", .unchanged))
        #expect(!isNew(host))
        host.at(70, .fetchEnded("app", .failure(Failure(.unreachable, "no route"))))
        #expect(isNew(host))
        host.at(71, .force("a", try .order(.ended, from: host.now.wall)))
        #expect(isNew(host))
        host.at(72, .drillEnded("b", DrillResult(at: host.now.wall, problem: nil), by: "x"))
        #expect(isNew(host))
        #expect(host.samples(.drillSuccess) == [#"{service="b"} 1"#])
        host.at(80, .drillEnded("b", DrillResult(at: host.now.wall, problem: "x"), by: "x"))
        #expect(isNew(host))
    }
}

/// Text from outside as the value of a label.
@Suite struct LabelTextTests {
    @Test(arguments: [
        ("42", "42"), ("", ""), (#"a"b\c"#, #"a\"b\\c"#), ("a\nb", "a b"),
        ("a\u{202E}b\u{0}c", "a\u{FFFD}b\u{FFFD}c"), ("Füße", "Füße"),
        (String(repeating: "a", count: 64), String(repeating: "a", count: 64)),
    ])
    func aVersionIsPrintableAndEscaped(_ version: String, _ label: String) {
        #expect(LabelText.escaped(LabelText.shortened(version)) == label)
    }

    @Test func aLongVersionIsShortAndDiffersFromOthersWithTheSameBeginning() {
        let start = String(repeating: "x", count: 100_000)
        let (one, other) = (LabelText.shortened(start + "1"), LabelText.shortened(start + "2"))
        #expect(one.count <= 64 && one.hasPrefix("xxxx"))
        #expect(one != other)
        #expect(LabelText.shortened(start + "1") == one)
    }
}

/// The text as promtool(1) reads it.
@Suite(.timeLimit(.minutes(5))) struct PromtoolTests {
    private func check(_ text: String) throws -> String {
        let folder = try TemporaryFolder()
        try folder.write(text, to: "metrics.prom")
        let result = try Program.run(
            "/bin/sh", ["-c", "exec promtool check metrics < \(folder("metrics.prom"))"])
        return result.output + result.errors
    }

    /// Calendar days are a number that people count, and no duration: they have no base unit.
    private static let onlyRemark =
        "killswitch_days_left use base unit \"seconds\" instead of \"days\"\n"

    @Test func nothingIsWrongWithTheMetricsOfAHost() throws {
        var host = try ObservedHost(["a", "b"], limit: 1)
        try host.at(1, answers: #"{"state": "running"}"#)
        try host.at(2, answers: #"{"state": "ended"}"#)
        host.at(3, .force("a", try .order(.maintenance, from: host.now.wall)))
        #expect(try check(host.text) == "")
    }

    @Test func theNumberOfDaysIsTheOneRemark() throws {
        var host = try ObservedHost()
        try host.at(1, answers: #"{"state": "countdown", "ends_at": "2027-03-04T10:00:00Z"}"#)
        #expect(try check(host.text) == Self.onlyRemark)
    }

    @Test(arguments: [
        String(repeating: "v", count: 100_000), "quote \" and \\ and {}", "line\nfeed\r\n# HELP x",
        "right\u{202E}to left", "\u{0}", "", " ",
    ])
    func aHostileVersionSpoilsNoOtherMetric(_ version: String) throws {
        var host = try ObservedHost()
        try host.at(1, answers: #"{"state": "running"}"#, version: version)
        let text = host.text
        #expect(try check(text) == "")
        #expect(host.samples(.flagsInfo).count == 1)
        #expect(text.utf8.count < 20_000)
        #expect(!text.unicodeScalars.contains { !$0.isASCII && $0 != "\u{FFFD}" && $0 != "…" })
    }

    @Test func everyMetricHasANameOfItsOwnAndASentence() {
        #expect(Set(Metric.allCases.map(\.name)).count == Metric.allCases.count)
        for metric in Metric.allCases {
            #expect(metric.name.hasPrefix("killswitch_"))
            #expect(metric.name.hasSuffix("_total") == (metric.type == "counter"))
            #expect(!metric.help.hasSuffix(".") && !metric.help.contains("\n"))
        }
    }
}
