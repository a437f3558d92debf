import CivilTime
import Decision
import JSON
import Support
import Testing

/// A source with a new text at every poll does not fill the log.
@Suite struct LogRateLimitTests {
    private func logged(_ play: Transcript) -> [Substring] {
        play.text.split(separator: "\n").filter { $0.contains("    log ") }
    }

    private func failure(_ number: Int, _ kind: Failure.Kind = .unreachable) throws -> Event {
        .fetchEnded("app", .failure(Failure(kind, "error \(number)")))
    }

    @Test func failuresOfOneKindAreToldThreeTimesAnHourWhateverTheirTextsAre() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#)
        for number in 1...150 { play.at(Double(number * 60), try failure(number)) }
        let lines = logged(play)
        #expect(lines.count == 9)
        for (line, number) in zip(lines, [1, 2, 3, 61, 62, 63, 121, 122, 123]) {
            #expect(line.contains("error \(number);"))
        }
    }

    @Test func theSameTextIsToldOnceHoweverLongItLasts() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#)
        for number in 1...150 { play.at(Double(number * 60), try failure(0)) }
        #expect(logged(play).count == 1)
    }

    @Test func eachKindIsToldAlsoInTurns() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#)
        for number in 1...20 {
            let kind: Failure.Kind = number % 2 == 0 ? .refused : .unreachable
            play.at(Double(number * 60), try failure(number, kind))
        }
        #expect(logged(play).count == 6)
    }

    @Test func aFailureAfterAGoodAnswerIsToldAgain() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#)
        play.at(60, try failure(1))
        play.at(120, .fetchEnded("app", .unchanged))
        play.at(180, try failure(1))
        let lines = logged(play)
        #expect(lines.count == 3)
        #expect(lines[2].contains("error 1;"))
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
        #expect(logged(play).count == 20)
    }

    @Test func endsThatAreNoDatesAreToldThreeTimesAnHour() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#)
        for number in 1...30 {
            try play.at(
                Double(number * 60), "app",
                answers: #"{"service_end": "countdown", "service_countdown": "soon \#(number)"}"#)
        }
        #expect(logged(play).count == 3)
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
        #expect(play.text.split(separator: "\n").filter { $0.contains("log") }.count == 3)
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
