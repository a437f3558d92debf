import CivilTime
import Decision
import Fleet
import Testing

/// Answers of Prometheus, good and bad. None but a good one has a host that has obeyed.
@Suite struct PrometheusAnswerTests {
    static let now = 1_795_450_381.835

    /// A sample as Prometheus writes it; the labels are JSON without braces.
    static func sample(
        _ name: String, _ value: String, _ labels: String = "", host: String = "web-1:9100",
        job: String = "node", at time: Double = now
    ) -> String {
        let name =
            name.hasPrefix("mark ")
            ? "\"killswitchctl\":\"\(name.dropFirst(5))\"" : "\"__name__\":\"killswitch_\(name)\""
        let more = labels.isEmpty ? "" : ",\(labels)"
        return "{\"metric\":{\(name),\"instance\":\"\(host)\",\"job\":\"\(job)\"\(more)},"
            + "\"value\":[\(time),\"\(value)\"]}"
    }

    /// The samples of a host behind a closed gate with two units down, ten seconds ago.
    static func closed(host: String = "web-1:9100", job: String = "node") -> [String:
        String]
    {
        let shop = "\"service\":\"shop\""
        let samples: [(String, String, String)] = [
            ("service_state", "1", "\(shop),\"state\":\"maintenance\""),
            ("reason_info", "1", "\(shop),\"reason\":\"flags\""),
            ("flags_info", "1", "\(shop),\"source\":\"app\",\"version\":\"42\""),
            ("gate_wanted_open", "0", shop), ("gate_open", "0", shop),
            ("units_unwanted", "0", shop), ("moves_gates", "1", ""),
            ("alive_timestamp_seconds", "\(now - 10)", ""), ("mark scraped", "\(now - 5)", ""),
            ("mark seen", "\(now - 10)", ""),
        ]
        return samples.reduce(into: [:]) {
            $0[$1.0] = sample($1.0, $1.1, $1.2, host: host, job: job)
        }
    }

    private static func answer(_ samples: [String], _ more: String = "") -> String {
        "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":"
            + "[\(samples.joined(separator: ","))]}\(more)}"
    }

    private func findings(_ samples: [String]) throws -> [HostFinding] {
        try PrometheusAnswer(Array(Self.answer(samples).utf8)).findings(startedAt: nil)
    }

    func obedience(_ samples: [String]) throws -> Obedience? {
        RollCall(try findings(samples), Demand(.effect(.closed))).rows.first?.obedience
    }

    @Test func aHostThatIsDownHasObeyed() throws {
        let samples = Array(Self.closed().values)
        #expect(try obedience(samples) == .obeyed)
        let account = try #require(findings(samples).first?.account)
        #expect(account.state == .maintenance && account.gate == .closed)
        #expect(account.version == "42" && account.reason == "flags")
        #expect(account.at == Instant(microseconds: Int64((Self.now - 10) * 1_000_000)))
    }

    /// It answers with what it had stored.
    @Test func whatIsOlderThanPrometheusIsUnknown() throws {
        let answer = try PrometheusAnswer(Array(Self.answer(Self.valid).utf8))
        let info =
            #"{"status":"success","data":{"startTime":"2026-11-23T16:13:00.123456789+09:00","CWD":"/"}}"#
        let start = try #require(PrometheusAnswer.start(in: Array(info.utf8)))
        #expect(start == (try Instant(rfc3339: "2026-11-23T07:13:00.123456Z")))
        let scrape = Instant(microseconds: Int64((Self.now - 5) * 1_000_000))
        let demand = Demand(.effect(.closed))
        let older = RollCall(answer.findings(startedAt: scrape - .seconds(1)), demand)
        #expect(older.rows.map(\.obedience) == [.obeyed])
        let newer = RollCall(answer.findings(startedAt: scrape + .seconds(1)), demand)
        #expect(
            newer.rows.map(\.obedience)
                == [.unknown("Prometheus has not scraped it since it was started")])
    }

    @Test(arguments: ["", "<html>", "{}", #"{"status":"success","data":{"startTime":"soon"}}"#])
    func anotherServerTellsNoStart(_ body: String) {
        #expect(PrometheusAnswer.start(in: Array(body.utf8)) == nil)
    }

    @Test func anOrderThatIsHeldWillNotCome() throws {
        var samples = Self.closed()
        samples["service_state"] = Self.sample(
            "service_state", "1", "\(Self.shop),\"state\":\"running\"")
        samples["gate_wanted_open"] = Self.sample("gate_wanted_open", "1", Self.shop)
        samples["gate_open"] = Self.sample("gate_open", "1", Self.shop)
        let held = Self.sample("closing_held", "1", Self.shop)
        #expect(
            try obedience(Array(samples.values) + [held])
                == .failed(
                    "it is running by flags version '42': the host guard holds its closing until 'killswitchctl confirm'"
                ))
    }

    /// VictoriaMetrics says of each answer whether a storage node was away.
    @Test func anAnswerThatSaysItIsWholeCounts() throws {
        let body = Self.answer(Self.valid, #","isPartial":false,"stats":{"seriesFetched":"9"}"#)
        let findings = try PrometheusAnswer(Array(body.utf8)).findings(startedAt: nil)
        #expect(RollCall(findings, Demand(.effect(.closed))).rows.map(\.obedience) == [.obeyed])
    }

    /// Newer flags may not have reached such a host.
    @Test func oldFlagsAreAWarning() throws {
        let old = Self.sample("mark old", "600.4", "\"source\":\"app\"")
        let findings = try findings(Array(Self.closed().values) + [old])
        #expect(findings.first?.account?.warning == "the flags of source 'app' are 600 s old")
        let none = Self.sample("mark missing", "0", "\"source\":\"orders\"")
        let others = try self.findings(Array(Self.closed().values) + [none])
        #expect(others.first?.account?.warning == "source 'orders' has given no flags yet")
    }

    @Test func aHostHasTheNamesThatPeopleKnow() throws {
        func named(_ name: String, _ host: String) -> String {
            Self.sample("mark named", "1", "\"nodename\":\"\(name)\"", host: host)
        }
        let hosts = ["10.0.0.1:9100", "10.0.0.2:9100", "10.0.0.3:9100", "[::1]:9100"]
        let samples =
            hosts.flatMap { Self.closed(host: $0).values } + [
                named("web-1", hosts[0]), named("web", hosts[1]), named("web", hosts[2]),
            ]
        let found = try findings(samples).map(\.host).sorted { $0.id < $1.id }
        #expect(found.map(\.name) == ["web-1", hosts[1], hosts[2], hosts[3]])
        #expect(found.map(\.aliases)[0] == [hosts[0], "10.0.0.1"])
        #expect(found.map(\.aliases)[3] == [hosts[3], "::1"])
    }

    @Test func twoJobsOfOneAddressAreTwoLines() throws {
        let samples = Array(Self.closed().values) + Self.closed(job: "other").values
        #expect(
            Set(try findings(samples).map(\.host.id))
                == ["web-1:9100 (job node)", "web-1:9100 (job other)"])
    }

    /// Hosts of other services have problems too.
    @Test func aHostWithoutTheServiceIsNone() throws {
        let other = Self.sample("problems", "1", "\"kind\":\"unit\"", host: "db-1:9100")
        #expect(try findings(Array(Self.closed().values) + [other]).count == 1)
    }

    private static let valid = closed().values.sorted()

    @Test(arguments: [
        ("", "its answer is no JSON"),
        ("<html><body>Log in</body></html>", "it answers with a page of HTML"),
        ("null", "its answer is not that of the API of Prometheus"),
        ("{}", "its answer is not that of the API"),
        ("{\"status\":\"success\"}", "it refuses the query: status 'success'"),
        (
            #"{"status":"error","errorType":"bad_data","error":"1:4: parse error"}"#,
            "it refuses the query: 1:4: parse error"
        ),
        (
            answer(valid, #","warnings":["store b: no answer"]"#),
            "it answers with a part of the data: store b: no answer"
        ),
        (
            answer(valid, #","isPartial":true"#),
            "it answers with a part of the data: isPartial is set"
        ),
        (
            answer(valid, #","isPartial":"yes""#),
            "it answers with a part of the data: isPartial is set"
        ),
        (answer([]), "it knows no host with this service"),
        (
            #"{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}"#,
            "it answers with no vector of samples"
        ),
        (
            #"{"status":"success","data":{"resultType":"matrix","result":[]}}"#,
            "it answers with no vector of samples"
        ),
        (
            #"{"status":"success","data":{"resultType":"vector","result":[{"metric":{}}]}}"#,
            "it answers with a sample that is none"
        ),
        (answer([sample("gate_open", "0", at: 1e300)]), "it answers with a sample that is none"),
        (
            answer(valid + [sample("gate_open", "0", at: now + 1)]),
            "it answers with samples of several moments"
        ),
        (String(answer(valid).dropLast(9)), "its answer is no JSON"),
    ]) func anotherAnswerIsRefused(_ body: String, _ words: String) {
        let refusal = #expect(throws: PrometheusAnswer.Refusal.self) {
            try PrometheusAnswer(Array(body.utf8))
        }
        #expect(refusal?.description.hasPrefix(words) == true, "\(refusal?.description ?? "")")
    }

    @Test func aStatusIsExplained() {
        func words(_ status: Int, _ body: String) -> String {
            PrometheusAnswer.refusal(status: status, body: Array(body.utf8)).description
        }
        let error = #"{"status":"error","errorType":"timeout","error":"query timed out"}"#
        #expect(
            words(503, error) == "it answers with status 503: it refuses the query: query timed out"
        )
        #expect(words(502, "<html>") == "it answers with status 502")
        #expect(words(302, "") == "it redirects (302), which is not followed; correct the URL")
        #expect(words(204, Self.answer([])) == "it answers with status 204")
    }
}
