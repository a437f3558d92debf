import CivilTime
import Decision
import Fleet
import Support
import Testing

/// The last reports of hosts.
@Suite struct FleetReportsTests {
    private static let example = "Tests/Examples/0.1/published/report-body.json"
    private let now: Instant

    init() throws { now = try Instant(rfc3339: "2026-11-24T17:05:00Z") }

    private func finding(
        of service: String = "mail", _ edit: (String) -> String = { $0 }, at time: Instant? = nil
    ) throws -> HostFinding? {
        var reports = FleetReports(about: try #require(ServiceName(service)), at: time ?? now)
        reports.add(Array(edit(try Programs.text(of: Self.example)).utf8), of: "m1.json")
        return reports.findings.first
    }

    private func obedience(
        of service: String = "mail", _ edit: (String) -> String = { $0 }, at time: Instant? = nil,
        to demand: Demand = Demand(.effect(.closed))
    ) throws -> Obedience? {
        RollCall([try #require(try finding(of: service, edit, at: time))], demand).rows[0].obedience
    }

    @Test func theReportThatWasPublishedIsRead() throws {
        let finding = try #require(try finding())
        #expect(finding.host.id == "0123456789abcdef0123456789abcdef")
        #expect(finding.host.name == "host")
        let account = try #require(finding.account)
        #expect(account.version == "7" && account.effect == .complete && account.warning == nil)
        #expect(try obedience() == .obeyed)
        #expect(
            try obedience(of: "shop") == .late("it is countdown by flags version '3'"))
        #expect(
            try obedience(of: "web", to: Demand(.gate(.closed), version: "7"))
                == .late("it is maintenance (override), not by flags version '7'"))
    }

    @Test func aReportWithoutTheServiceIsOfNoHostOfItsFleet() throws {
        #expect(try finding(of: "other") == nil)
    }

    @Test func aReportIsAsOldAsItSays() throws {
        #expect(try obedience(at: now + .seconds(1189)) == .obeyed)
        #expect(
            try obedience(at: now + .seconds(1190))
                == .silent("its last report was made 1201 s ago"))
        #expect(
            try obedience(at: now - .seconds(100))
                == .unknown("its clock is 89 s ahead of that of this host"))
    }

    @Test(arguments: [
        (
            #""status":"applied","error_message":null"#,
            #""status":"applying","error_message":null"#,
            Obedience.late("its gate is closed")
        ),
        (
            #""status":"applied","error_message":null"#,
            #""status":"failed","error_message":"unit 'a': up""#,
            .failed("unit 'a': up")
        ),
        (
            #""status":"applied","error_message":null"#, #""status":"done","error_message":null"#,
            .unknown("its report does not tell how its gate is")
        ),
        (
            #""actual":"closed""#, #""actual":"closing""#,
            .unknown("its report contradicts itself: applied, and the gate is closing")
        ),
        (
            #""units_unwanted":0"#, #""units_unwanted":1"#,
            .unknown("its report contradicts itself: applied, and the gate is closed")
        ),
        (
            #""moves_gates":true"#, #""moves_gates":false"#,
            .failed("killswitchd was started without --gates there, and moves no gate")
        ),
        (
            #""state":"maintenance""#, #""state":"closed-down""#,
            .unknown("its report has no state that is known here")
        ),
        (#""gate":"closed""#, #""gate":7"#, .unknown("its report has no state that is known here")),
        (
            #""reported_at":"2026"#, #""reported_at":"soon"#,
            .unknown("'m1.json' is no report of killswitchd")
        ),
        (#""schema":1"#, #""schema":2"#, .unknown("'m1.json' is no report of killswitchd")),
        (
            #""service":"shop""#, #""service":"mail""#,
            .unknown("its report has the service more than once")
        ),
    ]) func aChangedReportChangesTheAnswer(
        _ old: String, _ new: String, _ expected: Obedience
    ) throws {
        // The first service is another one.
        #expect(try obedience { $0.replacing(old, with: new) } == expected)
    }

    @Test func whatIsNoReportIsAnUnknownHost() throws {
        for body in ["", "{", "[]", "null", "<html>", String(repeating: "[", count: 100_000)] {
            var reports = FleetReports(about: "mail", at: now)
            reports.add(Array(body.utf8), of: "web-1.json")
            let finding = try #require(reports.findings.first)
            #expect(finding.host.name == "web-1")
            guard case .unknown = finding.content else {
                Issue.record("\(finding)")
                continue
            }
        }
    }

    @Test func twoReportsOfOneMachineAreNone() throws {
        var reports = FleetReports(about: "mail", at: now)
        let body = Array(try Programs.text(of: Self.example).utf8)
        reports.add(body, of: "a.json")
        reports.add(body, of: "b.json")
        #expect(
            reports.findings.map(\.content) == [.unknown("several reports have its machine id")])
    }

    @Test func aSourceThatFailsIsAWarning() throws {
        let edited = try finding {
            $0.replacing(
                #""error_message":null,"warnings""#, with: #""error_message":"404","warnings""#)
        }
        #expect(edited?.account?.warning == "source 'app': 404")
    }
}
