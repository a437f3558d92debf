import CivilTime
import Decision
import JSON
import Reports
import Testing

/// What a report tells of decisions, gates and units.
@Suite struct HostReportTests {
    private var host: ReportedHost
    private let unit: UnitName

    init() throws {
        host = try ReportedHost()
        unit = try #require(UnitName("web.service"))
    }

    private func target(_ kind: GateTarget.Kind) throws -> UnitName {
        try #require(GateTarget(service: host.shop, kind: kind).unit)
    }

    /// The gate is open, and a unit runs behind it that has 10 s to stop.
    private mutating func open() throws {
        let (open, closed) = (try target(.open), try target(.closed))
        host.at(0, .targetsListed([open: UnitStatus(.active)]))
        try host.at(0, answers: #"{"state": "running", "version": 7}"#)
        var snapshot = UnitSnapshot(UnitStatus(.active))
        snapshot.requisiteOf = [unit]
        snapshot.wants = [unit]
        host.at(0, .unitRead(open, snapshot))
        host.at(0, .unitRead(closed, UnitSnapshot(UnitStatus(.inactive))))
        var running = UnitSnapshot(UnitStatus(.active))
        running.stopLimit = .seconds(10)
        host.at(0, .unitRead(unit, running))
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
        snapshot.requisiteOf = [unit]
        snapshot.wants = [unit]
        host.at(time, .unitRead(open, snapshot))
        host.at(time, .unitRead(closed, UnitSnapshot(UnitStatus(.active))))
        host.at(time, .unitRead(maintenance, UnitSnapshot(UnitStatus(.active))))
    }

    @Test func aServiceThatIsNotDecidedHasNoStatus() throws {
        #expect(
            try host.service("state", "gate", "status")
                == "state \"undecided\", gate null, status null")
        #expect(try host.document()["status"] == .null)
        #expect(!host.report().isSettled)
    }

    @Test mutating func anOpenGateIsApplied() throws {
        try open()
        #expect(
            try host.service("gate", "actual", "status", "units", "version")
                == #"gate "open", actual "open", status "applied", units [], version "7""#)
        #expect(host.report().isSettled)
    }

    @Test mutating func aClosingIsAppliedOnceItsUnitIsDown() throws {
        try open()
        try close()
        #expect(
            try host.service("gate", "actual", "status", "units")
                == #"gate "closed", actual "closing", status "applying", "#
                + #"units [{"name":"web.service","problem":null}]"#)
        #expect(!host.report().isSettled)
        host.at(2, .unitChanged(unit, UnitStatus(.inactive)))
        try confirmClosed(at: 2)
        host.at(2, .unitRead(unit, UnitSnapshot(UnitStatus(.inactive))))
        host.at(3, .woke)
        #expect(
            try host.service("gate", "actual", "status", "units")
                == #"gate "closed", actual "closed", status "applied", units []"#)
        #expect(host.report().isSettled)
    }

    @Test mutating func aUnitThatDoesNotStopHasFailedAfterItsLimit() throws {
        try open()
        try close()
        var stopping = UnitSnapshot(UnitStatus(.deactivating))
        stopping.stopLimit = .seconds(10)
        host.at(2, .unitRead(unit, stopping))
        for second in 3..<40 { host.at(Double(second), .woke) }
        #expect(
            try host.service("status", "error_message", "units")
                == #"status "failed", error_message "unit 'web.service': it has not stopped within its limit of 10 s", "#
                + #"units [{"name":"web.service","problem":"it has not stopped within its limit of 10 s"}]"#
        )
        #expect(try host.document()["status"] == .string("failed"))
        #expect(host.report().isSettled)
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
        let document = try #require(try JSON.Value.parse(host.report(generation: 7).bytes).object)
        #expect(document["generation"]?.number?.int64 == 7)
        #expect(document["host"]?.object?["name"]?.string == "web1")
        #expect(document["reported_at"]?.string == "2027-03-01T12:00:00+00:00")
    }
}
