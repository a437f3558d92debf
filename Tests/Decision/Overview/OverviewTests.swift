import CivilTime
import Decision
import Support
import Testing

/// Every problem of a moment, as all surfaces print it.
@Suite struct OverviewTests {
    private func lines(_ play: Transcript, _ condition: HostCondition = HostCondition()) -> [String]
    {
        play.machine.overview(at: play.now, condition).findings.map { finding in
            let since = finding.since.map { "\((play.now.boot - $0).wholeSeconds) s" } ?? "-"
            return "\(finding.kind.rawValue)\(finding.isAlarm ? "!" : "") \(since) "
                + finding.sentence
        }
    }

    @Test func nothingIsWrongWhereNothingIs() throws {
        let play = try Transcript([try service()]).answered(ServiceEnd.no)
        #expect(lines(play).isEmpty)
    }

    @Test func aFailedSourceIsAnAlarmOnceItsFlagsAreOlderThanThreeIntervals() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no)
        play.at(60, .fetchEnded("app", .failure(Failure(.unreachable, "no route"))))
        let text = "source 'app': no route; the last good flags stay in force"
        #expect(lines(play) == ["source 0 s \(text)"])
        play.at(180, .fetchEnded("app", .failure(Failure(.unreachable, "no route"))))
        #expect(lines(play) == ["source 120 s \(text)"])
        play.at(181, .woke)
        #expect(lines(play) == ["source! 121 s \(text)"])
        play.at(200, .fetchEnded("app", .unchanged))
        #expect(lines(play).isEmpty)
    }

    @Test func aSourceThatNeverAnsweredHasNoFlagsThatStayInForce() throws {
        var play = try Transcript([try service()]).started()
        play.at(1, .fetchEnded("app", .failure(Failure(.unreachable, "no route"))))
        #expect(lines(play) == ["source 0 s source 'app': no route; no valid flags are known yet"])
        #expect(play.text.contains("no route; no valid flags are known yet"))
    }

    @Test func aWordThatIsNoOrderIsAProblemOfItsServiceSinceItCameFirst() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no)
        try play.at(60, "app", answers: #"{"service_end": 7}"#)
        try play.at(90, "app", answers: "{}")
        #expect(
            lines(play) == [
                "invalid-answer! 30 s shop: the last answer of source 'app' is invalid: "
                    + "key 'service_end' is missing; the last good flags stay in force"
            ])
        try play.at(120, "app", answers: ServiceEnd.no)
        #expect(lines(play).isEmpty)
    }

    /// The services would repeat what the source says.
    @Test func anAnswerWithoutFlagsIsAProblemOfItsSourceAlone() throws {
        var play = try Transcript([try service(), try service("web")]).answered(ServiceEnd.no)
        let failure = Failure(.invalid, "the answer is a web page, not JSON")
        play.at(60, .fetchEnded("app", .failure(failure)))
        #expect(
            lines(play) == [
                "source 0 s source 'app': the answer is a web page, not JSON; the last good flags stay in force"
            ])
    }

    @Test func heldClosingsAreProblemsUntilTheyAreConfirmed() throws {
        var play = try HostGuardTests.running(["a", "b"], limit: 1)
        try play.at(2, "app", answers: #"{"service_end": "yes"}"#)
        play.at(12, .woke)
        let text =
            "source 'app' would close more services at once than close_at_once allows; the gate stays open "
            + "until 'killswitchctl confirm'"
        #expect(
            lines(play) == [
                "closing-held! 10 s a: \(text)", "closing-held! 10 s b: \(text)",
            ])
        play.at(13, .confirm(["a"], by: "root"))
        #expect(lines(play) == ["closing-held! 11 s b: \(text)"])
    }

    @Test func anOrderThatEndsSoonIsToldInTheLogAndIsAProblem() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no)
        play.at(1, .force("shop", try .order(.maintenance)))
        play.at(2699, .woke)
        #expect(lines(play).isEmpty)
        play.forget()
        play.at(2700, .woke)
        let text =
            "shop: the order of 'root' (maintenance) ends at 2027-03-01T13:00:00+00:00; then the flags decide"
        #expect(lines(play) == ["override-ends! 0 s \(text)"])
        #expect(play.textWithoutFetches == "2700s woke\n    log notice: \(text)\n")
        play.at(3600, .woke)
        #expect(lines(play).isEmpty)
    }

    @Test func staleFlagsAreAProblem() throws {
        let policy = Policy(maxStale: .seconds(100))
        var play = try Transcript([try service(policy: policy)]).answered(ServiceEnd.no)
        play.at(60, .fetchEnded("app", .failure(Failure(.unreachable, "no route"))))
        play.at(100, .woke)
        #expect(
            lines(play) == [
                "stale! 0 s shop: the flags of source 'app' are older than max_stale; they stay in force (when_stale = \"hold\")",
                "source 40 s source 'app': no route; the last good flags stay in force",
            ])
    }

    @Test func aDirectoryThatIsFullIsOneProblemHoweverManyWritesFail() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no)
        play.at(1, .writeEnded(.storeFlags("app"), problem: "no space"))
        play.at(1, .writeEnded(.storeLedger, problem: "no space"))
        play.at(1, .writeEnded(.publish("shop"), problem: "read-only"))
        #expect(
            lines(play) == [
                "state-directory! 0 s cannot store the flags of source 'app' and 1 more: no space; retrying",
                "runtime-directory! 0 s cannot write the files of service 'shop': read-only; retrying",
            ])
        play.at(2, .writeEnded(.storeFlags("app"), problem: nil))
        play.at(2, .writeEnded(.storeLedger, problem: nil))
        #expect(
            lines(play) == [
                "runtime-directory! 1 s cannot write the files of service 'shop': read-only; retrying"
            ])
        play.at(3, .writeEnded(.publish("shop"), problem: nil))
        #expect(lines(play).isEmpty)
    }

    @Test func theConfigurationAndTheDescriptorsComeFirst() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no)
        play.at(60, .fetchEnded("app", .failure(Failure(.unreachable, "no route"))))
        var condition = HostCondition()
        condition.findings = [
            Finding(.host, .configurationRefused, "a.toml:1:1: no"),
            Finding(.host, .descriptors, "little is left"),
        ]
        #expect(
            lines(play, condition) == [
                "configuration-refused! - a.toml:1:1: no", "descriptors! - little is left",
                "source 0 s source 'app': no route; the last good flags stay in force",
            ])
    }

    @Test(arguments: Finding.Kind.allCases) func everyKindSaysWhatToDo(_ kind: Finding.Kind) {
        #expect(!Finding(.host, kind, "").advice.isEmpty)
    }
}
