import CivilTime
import Decision
import JSON
import Testing

/// Warnings about flags are reported, and change no verdict.
@Suite struct SourceWarningTests {
    @Test func aWarningIsReportedOnceWhileItLasts() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "over"}"#)
        let app: SourceName = try named("app")
        play.at(60, .warningsChanged(app, ["condition 'a' counts as false"]))
        play.at(120, .warningsChanged(app, ["condition 'a' counts as false", "condition 'b' too"]))
        play.at(180, .warningsChanged(app, []))
        play.at(240, .warningsChanged(app, ["condition 'a' counts as false"]))
        #expect(play.text.split(separator: "\n").filter { $0.contains("log") }.count == 3)
        #expect(!play.text.contains("publish"))
        #expect(play.text.contains("log warning: source 'app': condition 'b' too"))
    }

    /// Without a default a missing key is an invalid answer, which the switch reports.
    @Test func aMissingKeyThatFallsBackToItsDefaultIsReported() throws {
        let shop = try service()
        let app: SourceName = try named("app")
        let plan = Plan(
            sources: [
                SourcePlan(
                    name: app, interval: .seconds(60),
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
