import CivilTime
import Decision
import JSON
import Support
import Testing

/// What is wrong is told when it comes and when it is over, whatever its words are in between.
@Suite struct FindingLogTests {
    private func logged(_ play: Transcript) -> [Substring] {
        play.text.split(separator: "\n").filter { $0.contains("    log ") }
    }

    private func failure(_ number: Int, _ kind: Failure.Kind = .unreachable) throws -> Event {
        .fetchEnded("app", .failure(Failure(kind, "error \(number)")))
    }

    /// A source with a new text at every poll does not fill the log.
    @Test func aSourceThatFailsIsToldOnceWhateverItsTextsAre() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#)
        for number in 1...150 {
            let kind: Failure.Kind = number % 2 == 0 ? .refused : .unreachable
            play.at(Double(number * 60), try failure(number, kind))
        }
        #expect(logged(play).count == 1)
        let finding = try #require(play.machine.findings.present.first)
        #expect(finding.text.hasPrefix("error 150;"))
        #expect(finding.since.map { play.now.boot - $0 } == .seconds(149 * 60))
    }

    /// What comes and goes is told six times an hour, and an end only of what was told.
    @Test func aSourceThatFailsAtEachOtherPollIsToldSixTimesAnHour() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#)
        for number in 0..<59 {
            play.at(Double(60 + number * 60), try failure(number))
            play.at(Double(90 + number * 60), .fetchEnded("app", .unchanged))
        }
        let lines = logged(play)
        #expect(lines.count == 12)
        #expect(lines.count { $0.contains("log info: over: source 'app': error ") } == 6)
        play.at(3661, try failure(60))
        #expect(logged(play).count == 13)
    }

    /// What lasts is in the log, also where it came too often before.
    @Test func aSourceThatFailsForGoodIsToldOnceItMayBe() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#)
        for number in 0..<8 {
            play.at(Double(60 + number * 60), try failure(number))
            play.at(Double(90 + number * 60), .fetchEnded("app", .unchanged))
        }
        for minute in 10...62 { play.at(Double(minute * 60), try failure(minute)) }
        #expect(logged(play).count { $0.contains("log warning: source 'app': error ") } == 7)
        #expect(logged(play).last?.contains("error 61;") == true)
    }

    @Test func answersThatAreNoOrderInOneWayAreToldOnce() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#)
        for number in 1...70 {
            try play.at(Double(number * 60), "app", answers: #"{"service_end": [\#(number)]}"#)
        }
        // The first is the new reason of the verdict, and stays the reason.
        #expect(logged(play).count == 1)
    }

    @Test func warningsAboutFlagsAreAtMostTwentyAnHour() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#)
        for number in 1...59 {
            play.at(Double(number * 60), .warningsChanged("app", ["warning \(number)"]))
        }
        #expect(logged(play).count { $0.contains("log warning: source 'app': warning ") } == 20)
        #expect(logged(play).count == 40)
    }

    @Test func anEndThatIsNoDateIsToldOnceWhileItLasts() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#)
        for number in 1...30 {
            try play.at(
                Double(number * 60), "app",
                answers: #"{"service_end": "countdown", "service_countdown": "soon \#(number)"}"#)
        }
        #expect(logged(play).count == 1)
    }

    @Test func ofManyFindingsOfOneKindAFewAreTold() throws {
        var log = FindingLog()
        let many = (0..<100).map { Finding(.service("shop"), .valueInvalid, "no", matter: "\($0)") }
        let (_, came) = log.update(to: many, at: Boottime(microseconds: 0))
        #expect(came.count == 6 && log.present.count == 100)
        #expect(log.update(to: many, at: Boottime(microseconds: 1)).came.isEmpty)
        let (over, _) = log.update(to: [], at: Boottime(microseconds: 2))
        #expect(Set(over.map(\.matter)) == Set(came.map(\.matter)))
    }
}

/// Warnings about flags are reported, and change no verdict.
@Suite struct SourceWarningTests {
    @Test func aWarningIsReportedOnceWhileItLasts() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "over"}"#)
        play.at(60, .warningsChanged("app", ["condition 'a' counts as false"]))
        play.at(
            120, .warningsChanged("app", ["condition 'a' counts as false", "condition 'b' too"]))
        play.at(180, .warningsChanged("app", []))
        play.at(240, .warningsChanged("app", ["condition 'a' counts as false"]))
        let lines = play.text.split(separator: "\n").filter { $0.contains("log") }
        #expect(lines.count == 5 && lines.count { $0.contains("log info: over: ") } == 2)
        #expect(!play.text.contains("publish"))
        #expect(play.text.contains("log warning: source 'app': condition 'b' too"))
    }

    /// Without a default a missing key is an invalid answer, which the switch reports.
    @Test func aMissingKeyThatFallsBackToItsDefaultIsReported() throws {
        let shop = try service()
        let plan = Plan(
            sources: [
                SourcePlan(
                    name: "app", interval: .seconds(60),
                    defaults: ["service_end": "no", "unheard": "x"])
            ], services: [shop])
        var play = try Transcript(plan: plan).started()
        try play.at(0, "app", answers: #"{"service_end": "over"}"#)
        try play.at(60, "app", answers: #"{"other": 1}"#)
        try play.at(120, "app", answers: #"{"other": 2}"#)
        let sentence =
            "source 'app' no longer has key 'service_end'; the configured default is in force"
        #expect(play.text.split(separator: "\n").filter { $0.contains(sentence) }.count == 1)
        #expect(!play.text.contains("'unheard'"))
    }
}
