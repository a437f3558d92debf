import CivilTime
import Files
import JSON
import Support
import Testing

@Suite(.timeLimit(.minutes(5))) struct AgreementTests {
    private static let configuration = """
        [source.app]
        type = "file"
        path = "flags.json"
        """
        + Daemon.service(on: "app", format: "switch", #"min_closed = "0s""#, #"time_zone = "UTC""#)
        + Daemon.service("web", on: "app", format: "switch", #"update_required = "open""#)

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let flags: String
        var order: String?
    }

    @Test(arguments: [
        Case(testDescription: "running", flags: #"{"state": "running", "version": 7}"#),
        Case(
            testDescription: "countdown",
            flags: #"{"state": "countdown", "ends_at": "2037-01-01T10:00:00Z"}"#),
        Case(testDescription: "maintenance", flags: #"{"state": "maintenance"}"#),
        Case(testDescription: "update-required", flags: #"{"state": "update-required"}"#),
        Case(testDescription: "ended", flags: #"{"state": "ended", "version": 8}"#),
        Case(testDescription: "forced", flags: #"{"state": "running"}"#, order: "maintenance"),
        Case(testDescription: "no order", flags: #"{"state": "word"}"#),
        Case(testDescription: "broken", flags: "<html>"),
    ])
    func statusAndMetricsSayTheSame(_ state: Case) throws {
        let daemon = try Daemon(Self.configuration, flags: state.flags).start()
        try daemon.waitUntil("it was asked") {
            try daemon.control("status", "--json").output.contains("\"problem\"")
                && daemon.control("refresh").status != 69
        }
        if let order = state.order {
            try daemon.control("close", "shop", "--state", order, "--for", "1h", "--reason", "x")
                .expect(0)
        }
        var differences: [String] = []
        try daemon.waitUntil("they agree, and not: \(differences)") {
            differences = try Self.differences(daemon)
            return differences.isEmpty
        }
    }

    /// The samples that `status --json` expects and that the metrics do not have.
    private static func differences(_ daemon: Daemon) throws -> [String] {
        let status = try JSON.Value.parse(try daemon.control("status", "--json").output)
        let object = try #require(status.object)
        var expected: [String] = []
        for service in (object["services"]?.array ?? []).compactMap(\.object) {
            expected += samples(of: service)
        }
        for source in (object["sources"]?.array ?? []).compactMap(\.object) {
            let name = source["name"]?.string ?? ""
            if source["problem"]?.string != nil {
                expected.append("killswitch_source_up{source=\"\(name)\"} 0")
            } else if source["age"] != .null {
                expected.append("killswitch_source_up{source=\"\(name)\"} 1")
            }
        }
        var kinds: [String: Int] = [:]
        for problem in (object["problems"]?.array ?? []).compactMap(\.object)
        where problem["alarm"] == true {
            kinds[problem["kind"]?.string ?? "", default: 0] += 1
        }
        for (kind, count) in kinds {
            expected.append("killswitch_problems{kind=\"\(kind)\"} \(count)")
        }
        let refused = object["configuration"]?.object?["refused"]?.string != nil
        expected.append("killswitch_configuration_refused \(refused ? 1 : 0)")
        let lines = Set((try daemon.metrics() ?? "").split(separator: "\n").map(String.init))
        return expected.filter { !lines.contains($0) }
    }

    private static func samples(of service: JSON.Object) -> [String] {
        let label = "service=\"\(service["service"]?.string ?? "")\""
        var samples = [
            "killswitch_service_state{\(label),state=\"\(service["state"]?.string ?? "")\"} 1",
            "killswitch_reason_info{\(label),reason=\"\(service["reason"]?.string ?? "")\"} 1",
            "killswitch_state_changes_total{\(label)} \(service["generation"]?.number?.int64 ?? -1)",
        ]
        if let gate = service["gate"]?.string {
            samples.append("killswitch_gate_wanted_open{\(label)} \(gate == "open" ? 1 : 0)")
        }
        if let days = service["days_left"]?.number?.int64 {
            samples.append("killswitch_days_left{\(label)} \(days)")
        }
        if let end = instant(service["ends_at"]) {
            samples.append("killswitch_end_timestamp_seconds{\(label)} \(end.seconds)")
        }
        if let source = service["source"]?.string {
            let version = service["version"]?.string ?? ""
            samples.append(
                "killswitch_flags_info{\(label),source=\"\(source)\",version=\"\(version)\"} 1")
        }
        if let order = service["override"]?.object, let end = instant(order["until"]) {
            let state = order["state"]?.string ?? ""
            samples.append(
                "killswitch_override_end_timestamp_seconds{\(label),state=\"\(state)\"} \(end.seconds)"
            )
        }
        return samples
    }

    private static func instant(_ value: JSON.Value?) -> Instant? {
        do { return try value?.string.map { try Instant(rfc3339: $0) } } catch { return nil }
    }
}

extension Daemon {
    /// The metrics as they were written last; nil before the first.
    func metrics(_ file: String = "run/metrics.prom") throws -> String? {
        try File.exists(folder(file)) ? folder.text(of: file) : nil
    }

    func waitFor(sample: String, in file: String = "run/metrics.prom") throws {
        try waitUntil("the metrics have '\(sample)'") { [self] in
            try metrics(file)?.split(separator: "\n").contains { $0 == sample } ?? false
        }
    }

    func value(of sample: String) throws -> Substring? {
        let line = try metrics()?.split(separator: "\n").first { $0.hasPrefix(sample + " ") }
        return line?.dropFirst(sample.count + 1)
    }
}
