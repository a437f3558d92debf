import CivilTime
import Decision
import Fleet
import Reports
import Support
import Testing

/// What hosts have said in etcd.
@Suite struct FleetAcknowledgementsTests {
    private let noon: Instant
    private let service: ServiceName = "shop"

    init() throws { noon = try Instant(rfc3339: "2027-03-01T12:00:00Z") }

    private func finding(_ value: [UInt8], after seconds: Int64 = 0) throws -> HostFinding {
        var found = FleetAcknowledgements(
            of: service, under: "/flags-ack/shop/", at: noon + .seconds(seconds))
        found.add(Array("/flags-ack/shop/id1".utf8), value)
        return try #require(found.findings.first)
    }

    private func told(
        _ status: Acknowledgement.Status?, after seconds: Int64 = 0, units: [String] = [],
        _ edit: (inout Acknowledgement) -> Void = { _ in }
    ) throws -> Obedience {
        var told = Acknowledgement(
            host: "web1", state: .maintenance, gate: .closed, version: "8", status: status)
        (told.units, told.unwanted) = (units, units.count)
        edit(&told)
        let value = told.bytes(at: noon, next: noon + .seconds(900))
        let finding = try finding(value, after: seconds)
        return RollCall([finding], Demand(.effect(.closed))).rows[0].obedience
    }

    @Test func onlyWhatSystemdShowsIsObeyed() throws {
        #expect(try told(.applied) == .obeyed)
        #expect(
            try told(.applying, units: ["a.service", "b.service"])
                == .late("units 'a.service', 'b.service' are not down"))
        #expect(
            try told(.failed, units: ["web.service"]) == .failed("unit 'web.service' is not down"))
        #expect(try told(.applying) == .late("its gate is being moved"))
        #expect(
            try told(.applied) { $0.gate = .open }
                == .late("it is maintenance by flags version '8'"))
        #expect(try told(nil).word == "failed")
        #expect(
            try told(.applied) {
                $0.isHeld = true; $0.gate = .open
            }.word == "failed")
    }

    @Test func hostsAreNamedAndManyUnitsCounted() throws {
        let finding = try finding(
            Acknowledgement(
                host: "web1", state: .ended, gate: .closed, version: nil, status: .applied
            ).bytes(at: noon, next: noon))
        #expect(finding.host.name == "web1" && finding.host.id == "id1")
        let words = try told(.failed, units: (1...9).map { "u\($0).service" })
        #expect(
            words
                == .failed("units 'u1.service', 'u2.service', 'u3.service' and 6 more are not down")
        )
        #expect(try told(.failed) { $0.unwanted = 7 } == .failed("7 units are not down"))
    }

    /// It promises to speak again after 15 minutes. A put that fails is tried again within 5.
    @Test(arguments: [(0, true), (900, true), (1200, true), (1201, false), (86_400, false)])
    func aHostThatDoesNotSpeakAgainIsSilent(_ second: Int64, _ speaks: Bool) throws {
        #expect(try told(.applied, after: second).word == (speaks ? "obeyed" : "silent"))
    }

    @Test func aClockThatIsAheadIsUnknown() throws {
        #expect(try told(.applied, after: -60) == .obeyed)
        #expect(
            try told(.applied, after: -61)
                == .unknown("its clock is 61 s ahead of that of this host"))
    }

    @Test(arguments: ["", "x", "{}", #"{"schema":2}"#, "\u{1B}[2J"])
    func aValueThatIsNoneIsUnknown(_ value: String) throws {
        let finding = try finding(Array(value.utf8))
        let row = RollCall([finding], Demand(.effect(.closed))).rows[0]
        #expect(row.obedience.word == "unknown" && row.host.name == "id1")
    }

    @Test func aKeyThatSteersATerminalDoesNot() {
        var found = FleetAcknowledgements(of: service, under: "/p/", at: noon)
        found.add(Array("/p/\u{1B}[2J\n".utf8) + [0xFF], [])
        #expect(found.findings.first?.host.name.utf8.allSatisfy { $0 >= 0x20 } == true)
    }
}
