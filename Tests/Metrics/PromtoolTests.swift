import CivilTime
import Decision
import Metrics
import Support
import Testing

/// The text as promtool(1) reads it.
@Suite(.timeLimit(.minutes(5))) struct PromtoolTests {
    /// What `promtool check metrics` says of a text.
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
        host.at(3, .force(try named("a"), try .order(.maintenance, from: host.now.wall)))
        #expect(try check(host.text) == "")
    }

    @Test func theNumberOfDaysIsTheOneRemark() throws {
        var host = try ObservedHost()
        try host.at(
            1, answers: #"{"state": "countdown", "ends_at": "2027-03-04T10:00:00Z"}"#)
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
