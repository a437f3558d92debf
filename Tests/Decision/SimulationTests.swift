import CivilTime
import Decision
import JSON
import Support
import Testing

/// Simulations by the machine: the verdict at a time, and its changes.
@Suite struct SimulationTests {
    private static let start = "2027-03-01T12:00:00Z"

    /// The changes up to `until`, a line each.
    private func timeline(
        of service: Service, _ flags: [String: String], until: String,
        installed: String? = nil, isSilent: Bool = false
    ) throws -> String {
        let start = try Instant(rfc3339: Self.start)
        var answers: [SourceName: Answer] = [:]
        for (source, body) in flags {
            answers[try named(source)] = try answer(body, fetchedAt: start)
        }
        var simulation = Simulation(
            service, sources: try sources(of: service), answers: answers,
            installed: installed.flatMap { Version($0) }, at: start, isSilent: isSilent)
        let records = simulation.records(until: try Instant(rfc3339: until))
        return (records.map(line) + simulation.notices.map(\.sentence)).joined(separator: "\n")
    }

    private func sources(of service: Service) throws -> [SourcePlan] {
        Set(service.switches.map(\.source)).sorted().map {
            SourcePlan(name: $0, interval: .seconds(60))
        }
    }

    private func line(_ record: PublishedVerdict) -> String {
        let verdict = record.verdict
        return [
            Zone.utc.rfc3339(record.decidedAt), verdict.state.rawValue,
            verdict.gate?.rawValue ?? "-", verdict.reason.slug.rawValue,
            verdict.daysLeft.map { "days=\($0)" } ?? "", verdict.texts.title ?? "",
        ].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The virtual clock starts where a boot would: the wait of `spread_at_boot` is none of the flags.
    @Test func aSimulationBeginsLongAfterTheBoot() throws {
        let policy = Policy(openSpread: .seconds(86_400), spreadsAtBoot: true)
        #expect(
            try timeline(
                of: service(policy: policy), ["app": #"{"service_end": "no"}"#],
                until: "2027-03-05T00:00:00Z") == "2027-03-01T12:00:00+00:00 running open flags")
    }

    @Test func everyChangeOfTheVerdictComesWithItsTime() throws {
        let flags = #"""
            {"state": "running", "ends_at": "2027-04-01T00:00:00Z", "windows": [
                {"from": "2027-03-10T02:00:00Z", "until": "2027-03-10T02:30:00Z", "title": "A"},
                {"from": "2027-03-20T02:00:00Z", "until": "2027-03-20T02:30:00Z", "title": "B"}]}
            """#
        #expect(
            try timeline(
                of: service(format: .switchObject(.whole)), ["app": flags],
                until: "2028-01-01T00:00:00Z") == """
                    2027-03-01T12:00:00+00:00 countdown open flags days=31
                    2027-03-10T02:00:00+00:00 maintenance closed window A
                    2027-03-10T02:30:00+00:00 countdown open flags days=22
                    2027-03-20T02:00:00+00:00 maintenance closed window B
                    2027-03-20T02:30:00+00:00 countdown open flags days=12
                    2027-04-01T00:00:00+00:00 ended closed end-passed days=0
                    """)
    }

    /// A change exactly at the end of the timeline is listed.
    @Test(arguments: [("2027-03-02T00:00:00Z", 2), ("2027-03-01T23:59:59Z", 1)])
    func theEndOfTheTimelineBelongsToIt(_ until: String, _ count: Int) throws {
        let flags = #"{"service_end": "countdown", "service_countdown": "2027-03-02T00:00:00Z"}"#
        let text = try timeline(of: service(), ["app": flags], until: until)
        #expect(text.split(separator: "\n").count == count)
    }

    @Test func aWindowThatGoesOnAtTheStartCloses() throws {
        let flags = #"""
            {"state": "running", "windows": [
                {"from": "2027-03-01T12:00:00Z", "until": "2027-03-01T12:00:01Z"}]}
            """#
        #expect(
            try timeline(
                of: service(format: .switchObject(.whole)), ["app": flags],
                until: "2027-03-02T00:00:00Z") == """
                    2027-03-01T12:00:00+00:00 maintenance closed window
                    2027-03-01T12:00:01+00:00 maintenance closed min-closed
                    2027-03-01T12:00:05+00:00 running open flags
                    """)
    }

    @Test func sourcesThatConfirmTheirFlagsNeverMakeThemOldAndSilentOnesDo() throws {
        let shop = try service(policy: Policy(maxStale: .seconds(3600), whenStale: .closed))
        let flags = ["app": #"{"service_end": "no"}"#]
        let fresh = "2027-03-01T12:00:00+00:00 running open flags"
        #expect(try timeline(of: shop, flags, until: "2028-03-01T12:00:00Z") == fresh)
        #expect(
            try timeline(of: shop, flags, until: "2028-03-01T12:00:00Z", isSilent: true)
                == fresh + "\n2027-03-01T13:00:00+00:00 maintenance closed stale-closed")
    }

    @Test func severalSourcesAreReadTogetherAndOneWithoutFlagsNeverAnswered() throws {
        let shop = try service(policy: Policy(whenUnknown: .closed), sources: ["app", "plan"])
        let (no, over) = (#"{"service_end": "no"}"#, #"{"service_end": "over"}"#)
        let at = "2027-03-01T12:00:00+00:00"
        #expect(
            try timeline(of: shop, ["app": no, "plan": over], until: Self.start)
                == "\(at) ended closed flags")
        #expect(
            try timeline(of: shop, ["app": no], until: Self.start)
                == "\(at) maintenance closed unknown-closed")
    }

    @Test func flagsThatAreNoOrderAreNamed() throws {
        #expect(
            try timeline(of: service(), ["app": "{}"], until: Self.start) == """
                2027-03-01T12:00:00+00:00 running open unknown-open
                shop: the last answer of source 'app' is invalid: key 'service_end' is missing; \
                no valid flags are known yet
                """)
    }

    @Test func theInstalledVersionIsCompared() throws {
        let flags = ["app": #"{"state": "running", "minimum_version": "2.0.0"}"#]
        let shop = try service(format: .switchObject(.whole))
        let at = "2027-03-01T12:00:00+00:00"
        #expect(
            try timeline(of: shop, flags, until: Self.start, installed: "2.0.0-rc.1")
                == "\(at) update-required closed version-too-old")
        #expect(
            try timeline(of: shop, flags, until: Self.start, installed: "2.0.0")
                == "\(at) running open flags")
    }

    /// As many windows as flags may hold.
    @Test func aTimelineOfManyWindowsEnds() throws {
        let windows = (0..<64).map { index in
            let minute = { (number: Int) in
                let text = String(100 + number % 60).dropFirst()
                return "2027-03-02T\(String(100 + index / 30).dropFirst())" + ":\(text):00Z"
            }
            let first = index % 30 * 2
            return #"{"from": "\#(minute(first))", "until": "\#(minute(first + 1))"}"#
        }
        let flags = #"{"state": "running", "windows": [\#(windows.joined(separator: ","))]}"#
        let text = try timeline(
            of: service(format: .switchObject(.whole)), ["app": flags],
            until: "2027-04-01T00:00:00Z")
        #expect(text.split(separator: "\n").count == 129)
    }
}
