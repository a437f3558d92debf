import CivilTime
import Decision
import Gates
import JSON
import Reports
import Support
import Testing

/// What a host says of itself in one key of etcd, and its sign of life beside it.
@Suite struct HostBriefTests {
    private func read(_ text: String) throws -> JSON.Object {
        try #require(try JSON.Value.parse(Array(text.utf8)).object)
    }

    @Test func itIsOneObject() throws {
        var host = try ReportedHost()
        host.movesGates = false
        #expect(
            host.briefText() == """
                {"schema":1,"host":{"name":"web1","boot_id":"boot"},"moves_gates":false,\
                "left_out":{"services":0},"reported_at":"2027-03-01T12:00:00+00:00","services":[]}
                """)
        try host.at(1, answers: #"{"state": "maintenance"}"#)
        let services = try read(host.briefText())["services"]?.array ?? []
        #expect(services.count == 1)
        let shop = try #require(services.first?.object)
        #expect(shop["state"] == "maintenance" && shop["gate"] == "closed")
        #expect(shop["units_unwanted"] == 0 && shop["units"] == nil)
        #expect(shop["status"] == .null && shop["armed"] == .null)
    }

    /// What was decided is not yet what is: systemd has not shown it.
    @Test func nothingIsAppliedThatSystemdDoesNotShow() throws {
        var host = try ReportedHost()
        try host.at(1, answers: #"{"state": "maintenance"}"#)
        let shop = try read(host.briefText())["services"]?.array?.first?.object
        #expect(shop?["status"] == "applying" && shop?["gate"] == "closed")
    }

    /// The services come first; names of units have what is left, and are counted in any case.
    @Test func unitsAreNamedWhileThereIsRoom() throws {
        let units: [UnitName] = (0..<300).compactMap {
            UnitName("worker-\($0)@a.service" as String)
        }
        var services: [HostBrief.Service] = []
        for name in ["shop", "mail"] as [ServiceName] {
            var service = HostBrief.Service(
                name, state: .ended, gate: .closed, version: nil, status: .failed)
            service.unwanted = units
            services.append(service)
        }
        let brief = HostBrief(host: nil, bootID: "boot", movesGates: true, services)
        let bytes = brief.bytes(at: Instant(seconds: 4_000_000_000))
        #expect((3800...HostBrief.sizeLimit).contains(bytes.count), "\(bytes.count)")
        let shown = try read(String(decoding: bytes, as: UTF8.self))["services"]?.array ?? []
        #expect(shown.count == 2)
        #expect(shown.allSatisfy { $0.object?["units_unwanted"] == 300 })
        #expect(shown.first?.object?.strings("units").count ?? 0 > 50)
    }

    /// The same news at another time are the same brief.
    @Test func timeIsNoNews() throws {
        var host = try ReportedHost()
        try host.at(1, answers: #"{"state": "running"}"#)
        let before = (host.brief(), host.briefText())
        host.at(2, .woke)
        #expect(host.brief() == before.0)
        #expect(host.briefText() != before.1)
        try host.at(3, answers: #"{"state": "maintenance"}"#)
        #expect(host.brief() != before.0)
    }

    /// Names of 63 letters: what has no room is counted, and what is there is whole.
    @Test(arguments: [1, 20, 40, 100, 256])
    func itHasAtMostFourKibibytes(_ count: Int) throws {
        let names = try (1..<max(count, 2)).map {
            try #require(ServiceName("s\($0)" + String(repeating: "x", count: 59)))
        }
        var host = try ReportedHost(also: names)
        try host.at(1, answers: #"{"state": "running"}"#)
        for name in ["w", "\"", "\u{1F6D1}", "\u{7}", "é"] {
            let long = String(repeating: name, count: 2000)
            let bytes = host.brief(long).bytes(at: Instant(seconds: 4_000_000_000))
            #expect(bytes.count <= HostBrief.sizeLimit, "\(bytes.count)")
            let document = try read(String(decoding: bytes, as: UTF8.self))
            let shown = try #require(document["services"]?.array)
            let leftOut = try #require(document["left_out"]?.object?["services"]?.number?.int64)
            #expect(shown.count + Int(leftOut) == names.count + 1)
            #expect(shown.first?.object?["service"] == "shop")
            #expect(count < 100 || leftOut > 0)
        }
    }

    @Test func aSignOfLifeHasSixteenBytes() throws {
        let brief = Array("a brief".utf8)
        for seconds in [0, 1, 1_800_000_000, 4_294_967_295] as [Int64] {
            let sign = SignOfLife(at: Instant(seconds: seconds), of: brief)
            #expect(sign.bytes.count == 16)
            #expect(SignOfLife(sign.bytes) == sign)
            #expect(sign.isBeside(brief) && !sign.isBeside(brief + [0x20]))
        }
    }

    @Test(arguments: [
        "", "0", "000000000000000", "00000000000000000", "00000000ffffffFF", "-000000000000001",
        "+000000000000001", "0x00000000000001", "0000000 00000000", "\u{1B}[2J            ",
    ]) func anotherValueIsNone(_ value: String) {
        #expect(SignOfLife(Array(value.utf8)) == nil)
    }
}
