import Support
import Testing

/// The guards of the guide, asked of Debian's Prometheus by the daemon's own `--check --probe`: while all is well,
/// while it is not, and before there is any data.
@Suite(.serialized, .timeLimit(.minutes(5))) struct GuardExampleTests {
    private static let noSample = "its query gives no sample"

    @Test func theErrorRatioHoldsWhileServersFail() async throws {
        let shop = try await ObservedShop()
        #expect(try shop.answer(of: "errors") == Self.noSample)
        // Requests, none of which has ever failed.
        try await shop.wait(until: "errors", is: nil) { $0.requests += 100 }
        try await shop.wait(until: "errors", is: Self.noSample) {
            $0.requests += 100
            $0.failures += 5
        }
        try await shop.wait(until: "errors", is: nil) { $0.requests += 100 }
        // Nobody asks for anything any more.
        try await shop.wait(until: "errors", is: Self.noSample) { _ in }
    }

    @Test func theObedienceHoldsWhileServersHaveNotObeyed() async throws {
        let shop = try await ObservedShop()
        #expect(try shop.answer(of: "obeyed") == Self.noSample)
        // Nobody has closed: the first may.
        shop.hosts = Array(repeating: .open, count: 50)
        try await shop.wait(until: "obeyed", is: nil) { _ in }
        shop.hosts = [.stuck] + Array(repeating: .open, count: 49)
        try await shop.wait(until: "obeyed", is: Self.noSample) { _ in }
        shop.hosts = Array(repeating: .down, count: 49) + [.stuck]
        try await shop.wait(until: "obeyed", is: nil) { _ in }
        shop.hosts = Array(repeating: .down, count: 47) + [.stuck, .stuck, .stuck]
        try await shop.wait(until: "obeyed", is: Self.noSample) { _ in }
        shop.hosts = Array(repeating: .down, count: 50)
        try await shop.wait(until: "obeyed", is: nil) { _ in }
    }

    @Test func anAlertHoldsWhileItFires() async throws {
        let shop = try await ObservedShop()
        // The rules were not evaluated yet, or just now.
        let first = try shop.answer(of: "quiet")
        #expect(first == nil || first == Self.noSample)
        try await shop.wait(until: "quiet", is: nil) { _ in }
        shop.hosts = [.open]
        try await shop.wait(until: "quiet", is: Self.noSample) { $0.broken = 1 }
        // Pending alone holds nothing.
        try await shop.wait(until: "quiet", is: nil) { $0.broken = 2 }
        #expect(try shop.answer(of: "pending") == nil)
    }

    @Test func aPrometheusThatRestartsHoldsMeanwhile() async throws {
        let shop = try await ObservedShop()
        try await shop.wait(until: "errors", is: nil) { $0.requests += 100 }
        try shop.prometheus.kill()
        #expect(try shop.answer(of: "errors") == "cannot connect: connection refused")
        try shop.prometheus.start()
        try await shop.wait(until: "errors", is: nil) { $0.requests += 100 }
    }

    @Test func aMistakeInTheQueryIsNamed() async throws {
        let shop = try await ObservedShop()
        #expect(
            try shop.answer(of: "mistake")?.hasPrefix(
                "it answers with status 400: it refuses the query: invalid parameter \"query\": ")
                == true)
        #expect(try shop.answer(of: "text") == "its query gives a text, not samples")
        #expect(
            try shop.answer(of: "range")
                == "its query gives a range of samples; write an instant query")
        #expect(try shop.answer(of: "nan") == "its query gives NaN")
        #expect(try shop.answer(of: "zero") == "its query gives the scalar 0")
        #expect(try shop.answer(of: "one") == nil)
    }
}

/// The servers and the hosts of a shop, under the eyes of a Prometheus, and the guards of the guide.
private final class ObservedShop {
    /// What the servers have counted.
    struct Counts {
        var (requests, failures, broken) = (0, 0, 0)
    }

    var hosts: [Conduct] = []
    private var counts = Counts()
    let prometheus: Prometheus
    private let folder: TemporaryFolder

    private static let rules = """
        groups:
        - name: shop
          interval: 1s
          rules:
          - {alert: ShopErrors, expr: shop_broken == 1}
          - {alert: ShopErrors, expr: shop_broken == 2, for: 1h}
          - {alert: Watchdog, expr: vector(1)}
        """

    init() async throws {
        prometheus = try await Prometheus(
            scraping: ["shop"] + (1...50).map { "web-\($0)" }, rules: Self.rules)
        folder = try TemporaryFolder()
        try folder.write(#"{"state":"running"}"#, to: "flags.json")
        try prometheus.start()
        try await waitUntil("Prometheus answers", every: .milliseconds(100)) {
            try answer(of: "one") == nil
        }
    }

    /// The guards of the guide as it has them, asked of this Prometheus, with rates over seconds in place of minutes.
    private func guards() throws -> String {
        let guide = try Programs.text(of: "docs/guides/steps.md")
        var guards = ""
        for name in ["errors", "obeyed", "quiet"] {
            let start = try #require(guide.firstRange(of: "[guard.\(name)]\n"))
            let end = try #require(guide[start.upperBound...].firstRange(of: "'''\n"))
            let last = try #require(guide[end.upperBound...].firstRange(of: "'''\n"))
            guards += guide[start.lowerBound..<last.upperBound]
        }
        let trials = [
            ("pending", #"ALERTS{alertname="ShopErrors", alertstate="pending"}"#),
            ("mistake", "sum("), ("text", #""text""#), ("range", "up[5s]"), ("nan", "0 / 0"),
            ("zero", "0"), ("one", "1"),
        ]
        for (name, query) in trials {
            guards +=
                "[guard.\(name)]\nprometheus = \"http://127.0.0.1:9090\"\nquery = '\(query)'\n"
        }
        return guards.replacing("http://127.0.0.1:9090", with: prometheus.url).replacing(
            "[2m]", with: "[4s]")
    }

    /// Why a guard does not pass now; nil if it passes.
    func answer(of name: String) throws -> String? {
        try folder.write(
            """
            [service.shop]
            source = "file:flags.json"
            format = "switch"
            guard = "\(name)"
            \(try guards())
            """, to: "killswitchd.toml")
        let result = try Programs.run(
            "killswitchd",
            [
                "--check", "--probe", "--config", folder("killswitchd.toml"),
                "--runtime-directory", folder("run"), "--state-directory", folder("state"),
            ]
        ).expect(0)
        let start = "guard '\(name)' "
        let line = try #require(
            result.output.split(separator: "\n").first { $0.hasPrefix(start) }, "\(result)")
        let words = line.dropFirst(start.count)
        if words == "passes" { return nil }
        try #require(words.hasPrefix("does not pass: "), "\(result)")
        return String(words.dropFirst("does not pass: ".count))
    }

    /// Lets servers and hosts go on, each time a little later, until a guard answers so; nil if it is to pass.
    func wait(
        until name: String, is expected: String?, _ goOn: (inout Counts) -> Void
    ) async throws {
        var said: String?
        try await waitUntil(
            "guard '\(name)' says '\(expected ?? "passes")'", every: .milliseconds(500),
            orReport: { "it says '\(said ?? "passes")'" }
        ) {
            goOn(&counts)
            try publish()
            said = try answer(of: name)
            return said == expected
        }
    }

    private func publish() throws {
        var shop = "shop_broken \(counts.broken)\n"
        if counts.requests > 0 {
            shop += "http_requests_total{code=\"200\"} \(counts.requests)\n"
        }
        if counts.failures > 0 {
            shop += "http_requests_total{code=\"500\"} \(counts.failures)\n"
        }
        try prometheus.show(shop, on: "shop")
        var texts: [String: String] = [:]
        for (number, conduct) in hosts.enumerated() {
            let text = try texts["\(conduct)"] ?? conduct.metrics()
            texts["\(conduct)"] = text
            try prometheus.show(text, on: "web-\(number + 1)")
        }
    }
}
