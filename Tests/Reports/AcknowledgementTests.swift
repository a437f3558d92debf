import CivilTime
import Decision
import Gates
import JSON
import Reports
import Support
import Testing

/// What a host says of a service in etcd, and what a reader makes of the value of a key.
@Suite struct AcknowledgementTests {
    private let noon: Instant
    private let later: Instant

    init() throws {
        noon = try Instant(rfc3339: "2027-03-01T12:00:00Z")
        later = noon + .seconds(900)
    }

    private func text(_ acknowledgement: Acknowledgement) -> String {
        String(decoding: acknowledgement.bytes(at: noon, next: later), as: UTF8.self)
    }

    @Test func itIsOneObject() throws {
        var told = Acknowledgement(
            host: "web1", state: .maintenance, gate: .closed, version: "8", status: .failed)
        told.unwanted = 1
        told.units = ["web.service"]
        #expect(
            text(told) == """
                {"schema":1,"host":"web1","state":"maintenance","gate":"closed","version":"8",\
                "status":"failed","units_unwanted":1,"units":["web.service"],\
                "at":"2027-03-01T12:00:00+00:00","next":"2027-03-01T12:15:00+00:00"}
                """)
        let read = try ReadAcknowledgement(told.bytes(at: noon, next: later))
        #expect(read.acknowledgement == told)
        #expect(read.at == noon && read.next == later)
    }

    /// The longest of everything: a host name of 64 quotes, a version of a digest and more, units of 255 bytes.
    @Test(arguments: ["w", "\"", "\u{1F6D1}", "\u{7}", "é"])
    func itFitsIn512Bytes(_ character: String) throws {
        let long = String(repeating: character, count: 2000)
        var told = Acknowledgement(
            host: long, state: .updateRequired, gate: .closed, version: long, status: .applying)
        told.isHeld = true
        for count in 0...40 {
            told.unwanted = 10_000
            told.units = (0..<count).map { "\($0)" + String(repeating: "x", count: 6 * $0) }
            let bytes = told.bytes(at: noon, next: later)
            #expect(bytes.count <= 512)
            let read = try ReadAcknowledgement(bytes).acknowledgement
            #expect(read.unwanted == 10_000 && read.state == .updateRequired && read.isHeld)
        }
        told.units = [String(repeating: "u", count: 255)]
        #expect(told.bytes(at: noon, next: later).count <= 512)
    }

    /// Anybody who may write the range can write such a value.
    @Test(arguments: [
        ("", "is not a JSON object"), ("{", "is not a JSON object"),
        ("[1]", "is not a JSON object"),
        ("\u{1F6D1}", "is not a JSON object"), ("{}", "is not of schema 1"),
        (#"{"schema":2}"#, "is not of schema 1"), (#"{"schema":"1"}"#, "is not of schema 1"),
        (#"{"schema":1}"#, "no"),
    ])
    func aValueThatIsNoneIsRefused(_ value: String, _ clause: String) {
        let error = #expect(throws: ReadAcknowledgement.Refusal.self) {
            try ReadAcknowledgement(Array(value.utf8))
        }
        #expect(error?.description.contains(clause) == true)
    }

    @Test(arguments: [
        (#""status":"applied""#, #""status":"obeyed""#),
        (#""status":"applied""#, #""status":7"#),
        (#""state":"maintenance""#, #""state":"closed""#),
        (#""state":"maintenance""#, #""state":"undecided""#),
        (#""gate":"closed""#, #""gate":null"#),
        (#""units_unwanted":0"#, #""units_unwanted":-1"#),
        (#""units_unwanted":0"#, #""units_unwanted":1e30"#),
        // It contradicts itself.
        (#""units_unwanted":0"#, #""units_unwanted":1"#),
        (#""units":[]"#, #""units":["web.service"]"#),
        (#""next":"2027-03-01T12:15"#, #""next":"2027-03-01T11:15"#),
        // A host cannot declare itself alive for ever.
        (#""next":"2027"#, #""next":"2099"#),
        (#""at":"2027-03-01T12:00:00+00:00""#, #""at":0"#),
        (#""host":"web1""#, #""host":null"#),
    ])
    func aWrongMemberIsRefused(_ before: String, _ after: String) throws {
        let told = Acknowledgement(
            host: "web1", state: .maintenance, gate: .closed, version: nil, status: .applied)
        let text = text(told)
        #expect(text.contains(before))
        _ = try ReadAcknowledgement(Array(text.utf8))
        let changed = text.replacing(before, with: after)
        #expect(throws: ReadAcknowledgement.Refusal.self) {
            try ReadAcknowledgement(Array(changed.utf8))
        }
    }

    @Test func aLongValueIsRefusedUnread() {
        let error = #expect(throws: ReadAcknowledgement.Refusal.self) {
            try ReadAcknowledgement([UInt8](repeating: 0x5B, count: 1 << 20))
        }
        #expect(error?.description == "its acknowledgement has 1048576 bytes, and 512 are the most")
    }

    /// Where nobody looks at systemd, nothing is said of units.
    @Test func withoutGatesTheStatusIsUnknown() throws {
        var host = try ReportedHost()
        #expect(host.acknowledged == nil)
        host.movesGates = false
        try host.at(1, answers: #"{"state": "ended", "version": 3}"#)
        let told = try #require(host.acknowledged).acknowledgement
        #expect(told.status == nil && told.gate == .closed && told.version == "3")
        #expect(text(told).contains(#""status":null"#))
    }
}
