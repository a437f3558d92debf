import CivilTime
import Decision
import Gates
import JSON
import Reports
import Support
import Testing

@Suite struct HostDocumentTests {
    private var host: ReportedHost
    private let unit: UnitName = "web.service"

    init() throws { host = try ReportedHost() }

    private func target(_ kind: GateTarget.Kind) throws -> UnitName {
        try #require(GateTarget(service: host.shop, kind: kind).unit)
    }

    /// The gate is open, and these units run behind it, each with a time to stop; by default one with 10 s.
    private mutating func open(_ more: [UnitName: Duration] = [:]) throws {
        let units = more.merging([unit: .seconds(10)]) { given, _ in given }
        let (open, closed) = (try target(.open), try target(.closed))
        host.at(0, .targetsListed([open: UnitStatus(.active)]))
        try host.at(0, answers: #"{"state": "running", "version": 7}"#)
        var snapshot = UnitSnapshot(UnitStatus(.active))
        snapshot.tied = Array(units.keys)
        snapshot.wants = Array(units.keys)
        host.at(0, .unitRead(open, snapshot))
        host.at(0, .unitRead(closed, UnitSnapshot(UnitStatus(.inactive))))
        for (unit, limit) in units {
            var running = UnitSnapshot(UnitStatus(.active))
            running.stopLimit = limit
            host.at(0, .unitRead(unit, running))
        }
        host.at(0.5, .woke)
    }

    private mutating func close() throws {
        try host.at(1, answers: #"{"state": "maintenance", "version": 8}"#)
        for kind in [GateTarget.Kind.closed, .maintenance] {
            host.at(
                1,
                .jobAnswered(.start(GateTarget(service: host.shop, kind: kind)), problem: nil))
        }
    }

    private mutating func confirmClosed(at time: Double) throws {
        let (open, closed) = (try target(.open), try target(.closed))
        let maintenance = try target(.maintenance)
        host.at(time, .unitChanged(open, UnitStatus(.inactive)))
        host.at(time, .unitChanged(closed, UnitStatus(.active)))
        host.at(time, .unitChanged(maintenance, UnitStatus(.active)))
        var snapshot = UnitSnapshot(UnitStatus(.inactive))
        snapshot.tied = [unit]
        snapshot.wants = [unit]
        host.at(time, .unitRead(open, snapshot))
        host.at(time, .unitRead(closed, UnitSnapshot(UnitStatus(.active))))
        host.at(time, .unitRead(maintenance, UnitSnapshot(UnitStatus(.active))))
    }

    /// The units of the service: whether each is as wanted, and its problem.
    private func units() throws -> String {
        let units = try host.document()["services"]?.array?.first?.object?["units"]?.array ?? []
        return units.compactMap(\.object).map { unit in
            let word =
                unit["as_wanted"] == .null ? "free" : unit["as_wanted"] == true ? "up" : "not so"
            let name = unit["name"]?.string ?? ""
            return "\(name) \(word): \(unit["problem"]?.serialized() ?? "")"
        }.joined(separator: ", ")
    }

    @Test func aServiceThatIsNotDecidedHasNoStatus() throws {
        #expect(
            try host.service("state", "gate", "status")
                == "state \"undecided\", gate null, status null")
        #expect(try host.document()["status"] == .null)
        #expect(!host.isSettled)
    }

    @Test mutating func anOpenGateIsApplied() throws {
        try open()
        #expect(
            try host.service("gate", "actual", "status", "armed", "version")
                == #"gate "open", actual "open", status "applied", armed null, version "7""#)
        #expect(try units() == "web.service up: null")
        #expect(host.isSettled)
    }

    @Test mutating func itNamesWhoSignedTheFlags() throws {
        #expect(try host.service("author") == "author []")
        try host.at(
            0,
            answers: """
                {"state": "running", "version": 7, "expires": "2099-01-01T00:00:00Z", "audience": "prod"}
                """, by: ["alice", "bob"])
        #expect(try host.service("author") == #"author ["alice","bob"]"#)
    }

    /// Nothing is wrong with it, and nobody starts it: its administrator has stopped it.
    @Test mutating func aUnitThatIsDownBehindAnOpenGateIsNotApplied() throws {
        try open(["worker.service": .seconds(10)])
        #expect(try host.service("status") == #"status "applied""#)
        host.at(1, .unitChanged(unit, UnitStatus(.deactivating, hasJob: true)))
        host.at(1.5, .woke)
        #expect(
            try host.service("actual", "status", "error_message", "units_unwanted")
                == #"actual "open", status "applying", error_message null, units_unwanted 1"#)
        #expect(!host.isSettled)
        host.at(2, .unitChanged(unit, UnitStatus(.inactive)))
        host.at(2.5, .woke)
        #expect(
            try host.service("actual", "status", "error_message", "units_unwanted")
                == #"actual "open", status "failed", error_message "unit 'web.service': it is not up", "#
                + "units_unwanted 1")
        #expect(host.isSettled)
        host.at(3, .unitChanged(unit, UnitStatus(.active)))
        host.at(3.5, .woke)
        #expect(try host.service("status") == #"status "applied""#)
    }

    /// Of its address everybody may see the origin, and nothing that may be a secret.
    @Test mutating func aSourceTellsItsOriginAndSinceWhenItAnswersOrFails() throws {
        let source = { (host: ReportedHost) in
            try host.document()["sources"]?.array?.first.map { $0.serialized() } ?? "-"
        }
        let origin =
            #"{"source":"app","type":"http","addresses":["https://flags.example.com:8443"],"#
            + #""interval_ms":60000,"#
        #expect(
            try source(host)
                == origin + #""answers":null,"since":null,"changed_at":null,"changed_by":[],"#
                + #""error_message":null,"warnings":[],"services":["shop"]}"#)
        try open()
        let good =
            origin + #""answers":true,"since":"2027-03-01T12:00:00+00:00","#
            + #""changed_at":"2027-03-01T12:00:00+00:00","changed_by":[],"#
            + #""error_message":null,"warnings":[],"services":["shop"]}"#
        #expect(try source(host) == good)
        let (fingerprint, content) = (host.fingerprint, host.content)
        // That the source confirms its flags is no change.
        try host.at(60, answers: #"{"state": "running", "version": 7}"#)
        #expect(host.fingerprint == fingerprint && host.content == content)
        try host.at(120, fails: "connection refused after 3 ms")
        let failing = (fingerprint: host.fingerprint, content: host.content)
        #expect(failing.fingerprint != fingerprint)
        #expect(
            try source(host)
                == origin + #""answers":false,"since":"2027-03-01T12:02:00+00:00","#
                + #""changed_at":"2027-03-01T12:00:00+00:00","changed_by":[],"#
                + #""error_message":"connection refused after 3 ms","warnings":[],"services":["shop"]}"#
        )
        // Other words are in the file, and no news.
        try host.at(180, fails: "connection refused after 4 ms")
        #expect(host.fingerprint == failing.fingerprint && host.content != failing.content)
        try host.at(240, answers: #"{"state": "running", "version": 7}"#)
        #expect(host.fingerprint == fingerprint && host.content != content)
        #expect(try source(host).contains(#""answers":true,"since":"2027-03-01T12:04:00+00:00""#))
    }

    @Test mutating func aFindingTellsItsAdviceAndSinceWhen() throws {
        #expect(try host.document()["findings"] == [])
        try open()
        try host.at(120, fails: "no route")
        let finding = try #require(try host.document()["findings"]?.array?.first?.object)
        #expect(finding["kind"] == "source" && finding["source"] == "app")
        #expect(finding["since"] == "2027-03-01T12:02:00+00:00" && finding["alarm"] == false)
        #expect(finding["text"]?.string?.hasPrefix("source 'app': no route; ") == true)
        #expect(finding["advice"]?.string?.isEmpty == false)
    }

    /// Readers take a megabyte, and a service of which everything is wrong hides nothing of the others.
    @Test mutating func theDocumentIsBoundedAndCountsWhatItLeavesOut() throws {
        host.findings = (0..<100).map {
            Finding(.service(host.shop), .gate, "problem \($0)", matter: "\($0)")
        }
        #expect(try host.document()["findings"]?.array?.count == 64)
        #expect(try host.document()["left_out"]?.object?["findings"] == 0)
        let text = String(repeating: "x", count: 10_000)
        host.findings = (0..<300).map {
            Finding(.host, .bus, "\($0) \(text)", matter: "\($0)")
        }
        #expect(host.report().count < 1 << 20)
        let document = try host.document()
        let (shown, missing) = (
            document["findings"]?.array?.count ?? 0,
            document["left_out"]?.object?["findings"]?.number?.int64 ?? 0
        )
        #expect(shown > 10 && missing > 100 && shown + Int(missing) == 300)
        #expect(document["services"]?.array?.count == 1)
    }

    @Test mutating func aServiceThatAsksForDrillsSaysSo() throws {
        #expect(try host.service("drill") == "drill null")
        host.drillIntervals = [host.shop: .seconds(86_400)]
        #expect(
            try host.service("drill")
                == #"drill {"at":null,"good":null,"problem":null,"last_good":null,"every":86400,"stopped":null}"#
        )
    }

    @Test mutating func aClosingIsAppliedOnceItsUnitIsDown() throws {
        try open()
        try close()
        #expect(
            try host.service("gate", "actual", "status", "units_unwanted")
                == #"gate "closed", actual "closing", status "applying", units_unwanted 1"#)
        #expect(try units() == "web.service not so: null")
        #expect(!host.isSettled)
        #expect(
            host.briefText().contains(
                #""status":"applying","armed":null,"units_unwanted":1,"units":["web.service"]"#))
        host.at(2, .unitChanged(unit, UnitStatus(.inactive)))
        try confirmClosed(at: 2)
        host.at(2, .unitRead(unit, UnitSnapshot(UnitStatus(.inactive))))
        host.at(3, .woke)
        #expect(
            try host.service("gate", "actual", "status", "units_unwanted")
                == #"gate "closed", actual "closed", status "applied", units_unwanted 0"#)
        #expect(try units() == "web.service up: null")
        #expect(host.isSettled)
    }

    @Test mutating func aUnitThatDoesNotStopHasFailedAfterItsLimit() throws {
        try open()
        try close()
        var stopping = UnitSnapshot(UnitStatus(.deactivating))
        stopping.stopLimit = .seconds(10)
        host.at(2, .unitRead(unit, stopping))
        for second in 3..<40 { host.at(Double(second), .woke) }
        #expect(
            try host.service("status", "error_message")
                == #"status "failed", error_message "unit 'web.service': it has not stopped within its limit of 10 s""#
        )
        #expect(
            try units()
                == #"web.service not so: "it has not stopped within its limit of 10 s""#)
        #expect(try host.document()["status"] == .string("failed"))
        #expect(host.isSettled)
        #expect(
            host.briefText().contains(
                #""status":"failed","armed":null,"units_unwanted":1,"units":["web.service"]"#))
    }

    /// The report tells of both, and is not repeated for each.
    @Test mutating func aUnitOnItsWayIsWaitedForAfterTheFailureOfAnother() throws {
        try open(["slow.service": .seconds(600)])
        try close()
        for (unit, limit) in [(unit, Duration.seconds(10)), ("slow.service", .seconds(600))] {
            var stopping = UnitSnapshot(UnitStatus(.deactivating))
            stopping.stopLimit = limit
            host.at(2, .unitRead(unit, stopping))
        }
        for second in 3..<40 { host.at(Double(second), .woke) }
        #expect(
            try host.service("status", "units_unwanted") == #"status "failed", units_unwanted 2"#)
        #expect(!host.isSettled)
    }

    @Test mutating func aHundredUnitsAreNamedAndAllUnwantedOnesCounted() throws {
        var units: [UnitName: Duration] = [:]
        for number in 1...149 { units["worker@\(number).service"] = .seconds(60) }
        try open(units)
        try close()
        let service = try host.document()["services"]?.array?.first?.object
        #expect(service?["units_unwanted"]?.number?.int64 == 150)
        #expect(service?["units"]?.array?.count == 100)
    }

    @Test mutating func withoutGatesTheFilesAreTheEffect() throws {
        host.movesGates = false
        try host.at(1, answers: #"{"state": "ended"}"#)
        #expect(
            try host.service("gate", "actual", "status")
                == #"gate "closed", actual null, status "applied""#)
        #expect(try host.document()["moves_gates"] == .bool(false))
    }

    /// Text from outside cannot leave its string.
    @Test mutating func hostileTextStaysInItsString() throws {
        host.movesGates = false
        try host.at(
            1, answers: #"{"state": "ended", "version": 9, "message": "\"}]}\u0000\u202e"}"#)
        #expect(try host.document()["services"]?.array?.count == 1)
    }

    @Test func theNumberAndTheHostAreInTheDocument() throws {
        let document = try #require(try JSON.Value.parse(host.report(generation: 7)).object)
        #expect(document["generation"]?.number?.int64 == 7)
        #expect(document["host"]?.object?["name"]?.string == "web1")
        #expect(document["reported_at"]?.string == "2027-03-01T12:00:00+00:00")
        #expect(document["configuration"] == ["refused": .null])
    }
}
