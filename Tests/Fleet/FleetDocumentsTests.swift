import CivilTime
import Decision
import Fleet
import Reports
import Support
import Testing

/// What hosts say of themselves, in a folder of reports and in etcd.
@Suite struct FleetDocumentsTests {
    private static let example = "Tests/Examples/0.1/published/report-body.json"
    private let now: Instant

    init() throws { now = try Instant(rfc3339: "2026-11-24T17:05:00Z") }

    private func finding(
        of service: String = "mail", _ edit: (String) -> String = { $0 }, at time: Instant? = nil
    ) throws -> HostFinding? {
        var reports = FleetDocuments(about: try #require(ServiceName(service)), at: time ?? now)
        reports.add(Array(edit(try Programs.text(of: Self.example)).utf8), of: "m1")
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
        #expect(finding.host.id == "m1")
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
                == .silent("it has said nothing for 1201 s"))
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
            .unknown("its document does not tell how its gate is")
        ),
        (
            #""status":"applied","error_message":null"#,
            #""enforced":false,"status":null,"error_message":null"#,
            .failed("the service has 'enforce = false' there, and its gate is not moved")
        ),
        (
            #""actual":"closed""#, #""actual":"closing""#,
            .unknown("its document contradicts itself: applied, and the gate is not")
        ),
        (
            #""units_unwanted":0"#, #""units_unwanted":1"#,
            .unknown("its document contradicts itself: applied, and the gate is not")
        ),
        (
            #""moves_gates":true"#, #""moves_gates":false"#,
            .failed("killswitchd was started without --gates there, and moves no gate")
        ),
        (
            #""state":"maintenance""#, #""state":"closed-down""#,
            .unknown("its document has no state that is known here")
        ),
        (
            #""gate":"closed""#, #""gate":7"#,
            .unknown("its document has no state that is known here")
        ),
        (
            #""reported_at":"2026"#, #""reported_at":"soon"#,
            .unknown("it is no document of killswitchd")
        ),
        (#""schema":1"#, #""schema":2"#, .unknown("it is no document of killswitchd")),
        (
            #""service":"shop""#, #""service":"mail""#,
            .unknown("its document has the service more than once")
        ),
    ]) func aChangedReportChangesTheAnswer(
        _ old: String, _ new: String, _ expected: Obedience
    ) throws {
        // The first service is another one.
        #expect(try obedience { $0.replacing(old, with: new) } == expected)
    }

    @Test func whatIsNoReportIsAnUnknownHost() throws {
        for body in ["", "{", "[]", "null", "<html>", String(repeating: "[", count: 100_000)] {
            var reports = FleetDocuments(about: "mail", at: now)
            reports.add(Array(body.utf8), of: "web-1")
            let finding = try #require(reports.findings.first)
            #expect(finding.host.name == "web-1")
            guard case .unknown = finding.content else {
                Issue.record("\(finding)")
                continue
            }
        }
    }

    @Test func aSourceThatFailsIsAWarning() throws {
        let edited = try finding {
            $0.replacing(
                #""error_message":null,"warnings""#, with: #""error_message":"404","warnings""#)
        }
        #expect(edited?.account?.warning == "source 'app': 404")
    }

    // MARK: Briefs

    private func brief(_ service: String, leftOut: Int = 0) -> [UInt8] {
        let text = """
            {"schema":1,"host":{"name":"web1","boot_id":"b"},"moves_gates":true,"left_out":{"services":\(leftOut)},\
            "reported_at":"2026-11-24T17:05:00+00:00","services":[{"service":"shop","state":"maintenance",\
            "gate":"closed","version":"8",\(service)}]}
            """
        return Array(text.utf8)
    }

    private func answer(
        to brief: [UInt8], after seconds: Int64 = 0, sign: SignOfLife? = nil,
        of service: ServiceName = "shop"
    ) throws -> Obedience {
        var found = FleetDocuments(about: service, at: now + .seconds(seconds))
        found.add(brief, of: "id1", sign: sign)
        return RollCall([try #require(found.findings.first)], Demand(.effect(.closed))).rows[0]
            .obedience
    }

    @Test func onlyWhatSystemdShowsIsObeyed() throws {
        func told(_ status: String, _ count: Int, _ units: String...) throws -> Obedience {
            let names = units.map { "\"\($0)\"" }.joined(separator: ",")
            return try answer(
                to: brief("\"status\":\(status),\"units_unwanted\":\(count),\"units\":[\(names)]"))
        }
        #expect(try told("\"applied\"", 0) == .obeyed)
        #expect(
            try told("\"applying\"", 2, "a.service", "b.service")
                == .late("units 'a.service', 'b.service' are not down"))
        #expect(
            try told("\"failed\"", 1, "web.service") == .failed("unit 'web.service' is not down"))
        #expect(try told("\"applying\"", 0) == .late("its gate is being moved"))
        #expect(
            try told("\"failed\"", 9, "u1", "u2", "u3", "u4")
                == .failed("units 'u1', 'u2', 'u3' and 6 more are not down"))
        #expect(try told("\"failed\"", 7) == .failed("7 units are not down"))
        #expect(try told("\"applied\"", 1, "a.service").word == "unknown")
        #expect(try told("\"applied\"", 0, "a.service").word == "unknown")
        #expect(try told("null", 0).word == "unknown")
    }

    /// A sign of life counts beside the brief of which it is.
    @Test(arguments: [(0, true), (1200, true), (1201, false), (86_400, false)])
    func aHostThatDoesNotSpeakAgainIsSilent(_ second: Int64, _ speaks: Bool) throws {
        let brief = brief("\"status\":\"applied\",\"units_unwanted\":0")
        #expect(try answer(to: brief, after: second).word == (speaks ? "obeyed" : "silent"))
        let sign = SignOfLife(at: now + .seconds(900), of: brief)
        #expect(
            try answer(to: brief, after: second + 900, sign: sign).word
                == (speaks ? "obeyed" : "silent"))
        let other = SignOfLife(at: now + .seconds(second + 900), of: brief + [0x20])
        #expect(
            try answer(to: brief, after: second + 900, sign: other).word
                == (second + 900 <= 1200 ? "obeyed" : "silent"))
    }

    @Test func aClockThatIsAheadIsUnknown() throws {
        let brief = brief("\"status\":\"applied\",\"units_unwanted\":0")
        #expect(try answer(to: brief, after: -60) == .obeyed)
        #expect(
            try answer(to: brief, after: -61)
                == .unknown("its clock is 61 s ahead of that of this host"))
        let sign = SignOfLife(at: now + .seconds(3600), of: brief)
        #expect(try answer(to: brief, sign: sign).word == "unknown")
    }

    @Test func aServiceWithoutRoomIsUnknown() throws {
        let cut = brief("\"status\":\"applied\",\"units_unwanted\":0", leftOut: 3)
        #expect(
            try answer(to: cut, of: "books")
                == .unknown("it says nothing of 'books', and not of all its services"))
        var found = FleetDocuments(about: "books", at: now)
        found.add(brief("\"status\":\"applied\",\"units_unwanted\":0"), of: "id1")
        #expect(found.findings.isEmpty)
    }

    @Test func aKeyThatSteersATerminalDoesNot() {
        var found = FleetDocuments(about: "shop", at: now)
        found.add([], of: "\u{1B}[2J\n")
        #expect(found.findings.first?.host.name.utf8.allSatisfy { $0 >= 0x20 } == true)
    }
}
