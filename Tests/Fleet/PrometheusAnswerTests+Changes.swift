import Fleet
import Testing

/// One sample is another than usual: what the host is then.
extension PrometheusAnswerTests {
    struct Change: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Removed samples, and other values of samples by their names.
        var without: [String] = []
        var values: [String: String] = [:]
        var more: [String] = []
        let expected: Obedience
    }

    static let shop = "\"service\":\"shop\""
    private static let gone = "Prometheus has no metrics of it any more"
    private static let mute = "killswitchd there does not tell how its gate is"
    private static let twice = "Prometheus has two values of 'killswitch_gate_open' for it"

    private static let changes = [
        Change(
            testDescription: "the daemon is dead, and its file is scraped",
            values: ["alive_timestamp_seconds": "\(now - 96)", "mark seen": "\(now - 96)"],
            expected: .silent("its last sign of life was 96 s ago")),
        Change(
            testDescription: "the exporter is gone",
            without: [
                "alive_timestamp_seconds", "mark scraped", "service_state", "gate_open",
                "gate_wanted_open", "units_unwanted", "moves_gates", "reason_info", "flags_info",
            ], expected: .silent("\(gone), its last sign of life was 10 s ago")),
        Change(
            testDescription: "Prometheus was away, and answers from before",
            values: [
                "mark scraped": "\(now - 200)", "alive_timestamp_seconds": "\(now - 205)",
            ], expected: .unknown("Prometheus has not scraped it for 200 s")),
        Change(
            testDescription: "its clock is ahead, so that its age is not known",
            values: ["alive_timestamp_seconds": "\(now + 600)"],
            expected: .unknown("its clock is 605 s ahead of that of Prometheus")),
        Change(
            testDescription: "NaN", values: ["gate_open": "NaN"],
            expected: .unknown("a number of it is 'NaN'")),
        Change(
            testDescription: "infinite", values: ["units_unwanted": "+Inf"],
            expected: .unknown("a number of it is '+Inf'")),
        Change(
            testDescription: "no number", values: ["units_unwanted": ""],
            expected: .unknown("a number of it is ''")),
        Change(
            testDescription: "half open", values: ["gate_open": "0.5"],
            expected: .unknown("'killswitch_gate_open' is 0.5")),
        Change(
            testDescription: "half wanted", values: ["gate_wanted_open": "2"],
            expected: .unknown("'killswitch_gate_wanted_open' is 2.0")),
        Change(
            testDescription: "less than no units", values: ["units_unwanted": "-1"],
            expected: .unknown("'killswitch_units_unwanted' is -1.0")),
        Change(
            testDescription: "a time beyond all", values: ["mark scraped": "1e300"],
            expected: .silent("its last sign of life was 10 s ago")),
        Change(
            testDescription: "a sign of life from the future",
            values: ["mark scraped": "\(now + 61)", "alive_timestamp_seconds": "\(now + 61)"],
            expected: .unknown("Prometheus has scraped it 61 s after its answer")),
        Change(testDescription: "no gate", without: ["gate_open"], expected: .unknown(mute)),
        Change(testDescription: "no units", without: ["units_unwanted"], expected: .unknown(mute)),
        Change(
            testDescription: "it does not say that it moves gates", without: ["moves_gates"],
            expected: .unknown("Prometheus does not know whether killswitchd moves gates")),
        Change(
            testDescription: "it moves none", values: ["moves_gates": "0"],
            expected: .failed("killswitchd was started without --gates there, and moves no gate")),
        Change(
            testDescription: "it only observes the service",
            without: ["gate_wanted_open", "gate_open", "units_unwanted"],
            more: [sample("would_close", "1", shop)],
            expected: .failed("the service has 'enforce = false' there, and its gate is not moved")),
        Change(
            testDescription: "no state", without: ["service_state"],
            expected: .unknown("Prometheus knows 0 states of it")),
        Change(
            testDescription: "two states",
            more: [sample("service_state", "1", "\(shop),\"state\":\"running\"")],
            expected: .unknown("Prometheus knows 2 states of it")),
        Change(
            testDescription: "two hosts behind one address",
            more: [sample("gate_open", "1", "\(shop),\"cluster\":\"b\"")],
            expected: .unknown(twice)),
        Change(
            testDescription: "undecided", without: ["gate_wanted_open", "gate_open"],
            expected: .late("it is maintenance by flags version '42'")),
        Change(
            testDescription: "the gate is on its way", values: ["gate_open": "1"],
            expected: .late("its gate is not closed yet")),
        Change(
            testDescription: "a unit stops", values: ["gate_open": "1", "units_unwanted": "2"],
            more: [sample("unit_unwanted", "1", "\(shop),\"unit\":\"web.service\"")],
            expected: .late("unit 'web.service' is up, and 1 more")),
        Change(
            testDescription: "a unit does not stop",
            values: ["gate_open": "1", "units_unwanted": "1"],
            more: [
                sample("unit_unwanted", "1", "\(shop),\"unit\":\"web.service\""),
                sample("problems", "1", "\"kind\":\"unit\""), sample("mark behind", "1"),
            ], expected: .failed("unit 'web.service' is up")),
        Change(
            testDescription: "the problem may be that of another service",
            values: ["gate_open": "1", "units_unwanted": "1"],
            more: [
                sample("unit_unwanted", "1", "\(shop),\"unit\":\"web.service\""),
                sample("problems", "1", "\"kind\":\"unit\""), sample("mark behind", "2"),
            ], expected: .late("unit 'web.service' is up")),
        Change(
            testDescription: "a unit that escapes behind a closed gate",
            values: ["units_unwanted": "1"],
            more: [sample("unit_unwanted", "1", "\(shop),\"unit\":\"web.service\"")],
            expected: .late("unit 'web.service' is up")),
        Change(
            testDescription: "its units drain", values: ["gate_open": "1", "units_unwanted": "1"],
            more: [sample("drain_end_timestamp_seconds", "\(now + 40)", shop)],
            expected: .late("its units run on for 40 s (drain)")),
        Change(
            testDescription: "the drain is over", values: ["gate_open": "1"],
            more: [sample("drain_end_timestamp_seconds", "\(now - 1)", shop)],
            expected: .late("its gate is not closed yet")),
        Change(
            testDescription: "metrics of later versions", more: [sample("novelty", "7", shop)],
            expected: .obeyed),
    ]

    @Test(arguments: changes) func aChangedSampleChangesTheAnswer(_ change: Change) throws {
        var samples = Self.closed().filter { !change.without.contains($0.key) }
        for (name, value) in change.values {
            let old = try #require(samples[name])
            let labels = try #require(old.split(separator: "\"value\":").first)
            samples[name] = "\(labels)\"value\":[\(Self.now),\"\(value)\"]}"
        }
        #expect(try obedience(Array(samples.values) + change.more) == change.expected)
    }
}
