import Glibc
import Support
import Testing

/// Three booted hosts behind HAProxy, each with its own part of an order's steps. The order does harm: HAProxy does not
/// look whether a host is closed, so that each step takes a share of all requests. Each host asks a Prometheus on the
/// first one before its own step.
@Suite(.threeInstalled, .enabled(if: geteuid() == 0, "needs root"), .timeLimit(.minutes(15)))
struct SteppedFleetTests {
    private let canary: Host
    private let web: Host
    private let till: Host
    private var all: [Host] { [canary, web, till] }

    private static let errors = """
        sum(rate(haproxy_frontend_http_responses_total{proxy="shop", code="5xx"}[4s]))
        / sum(rate(haproxy_frontend_http_responses_total{proxy="shop"}[4s]))
        """

    private static let haproxy = """
        defaults
            mode http
            timeout connect 1s
            timeout client 5s
            timeout server 5s
            retries 0
        frontend shop
            bind 127.0.0.1:8000
            default_backend hosts
        backend hosts
            server canary 10.9.0.1:8080
            server web 10.9.0.2:8080
            server till 10.9.0.3:8080
        frontend metrics
            bind 127.0.0.1:8404
            http-request use-service prometheus-exporter

        """

    init() throws {
        let systems = BootedSystem.present
        try #require(systems.count == 3)
        let hosts = try zip(systems, ["0%-1%", "1%-50%", "50%-100%"]).map { system, slots in
            try Host(Self.configuration(slots), on: system)
        }
        (canary, web, till) = (hosts[0], hosts[1], hosts[2])
        try canary.system.connect(to: [web.system, till.system])
        for (index, host) in all.enumerated() {
            try host.unit(
                "t-web.service",
                """
                [Service]
                ExecStart=/usr/bin/python3 -m http.server 8080 --bind 10.9.0.\(index + 1) --directory /srv
                """)
            try host.startUnits("t-web")
            try host.startExporter(at: "10.9.0.\(index + 1):9100")
        }
        try canary.system.write(Self.haproxy, to: "/run/t-haproxy.cfg")
        try canary.run(
            """
            systemd-run --quiet --unit=t-haproxy /usr/sbin/haproxy -db -f /run/t-haproxy.cfg
            systemd-run --quiet --unit=t-clients sh -c \\
                'while :; do curl -s -o /dev/null -m 2 http://127.0.0.1:8000/; sleep 0.1; done'
            """)
        try canary.startPrometheus(
            scraping: ["127.0.0.1:8404"] + (1...3).map { "10.9.0.\($0):9100" },
            at: "0.0.0.0:9090")
    }

    private static func configuration(_ slots: String) -> String {
        Host.service("shop", "guard = \"errors\"") + """
            [guard.errors]
            prometheus = "http://10.9.0.1:9090"
            query = '''
            \(errors) < 0.01
            '''
            [host]
            slots = "\(slots)"

            """
    }

    /// An order whose steps come one after the other, the first one in a few seconds.
    private func order() throws -> String {
        let steps = try [(4, 1), (30, 50), (31, 100)].map { seconds, percent in
            let time = try canary.run("date --utc --date='\(seconds) seconds' +%FT%TZ").dropLast()
            return #"{"at": "\#(time)", "percent": \#(percent)}"#
        }
        return #"{"state": "maintenance", "rollout": [\#(steps.joined(separator: ", "))]}"#
    }

    /// Waits until the metrics of the fleet tell of so many closed hosts, and of so many that wait.
    private func wait(forClosed closed: Int, held: Int) throws {
        try canary.wait(
            forSample: """
                count(killswitch_gate_open{service="shop"} == 0) == \(closed)
                and on () count(killswitch_step_held{service="shop", guard="errors"} == 1) == \(held)
                """)
    }

    private func expectHeld(_ host: Host) throws {
        #expect(try host.run("killswitchctl get shop reason") == "awaiting-guard\n")
        #expect(try host.property("ActiveState", of: "t-web") == "active")
        try host.control("status --check").expect(
            1,
            output:
                "guard 'errors' holds the step by which source 'shop' closes this host: its query gives no sample"
        )
    }

    @Test func aStepThatDoesHarmHoldsTheNextOnesUntilSomebodyConfirms() throws {
        defer {
            do {
                try canary.run("systemctl stop t-clients t-haproxy")
                try canary.system.disconnect()
                for host in all { try host.stopPrometheus() }
            } catch {}
        }
        try canary.wait(forSample: "\(Self.errors) < 0.01")
        try wait(forOpen: 3)
        let start = try till.property("InvocationID", of: "t-web")
        let order = try order()
        for host in all { try host.set(order) }

        // All is well, so that the first step comes. From then on a third of all requests fails.
        try canary.awaitDown("t-web")
        try canary.wait(forSample: "\(Self.errors) > 0.2")
        for host in [web, till] { try host.wait(for: "awaiting-guard", in: "shop/state.json") }
        for host in [web, till] { try expectHeld(host) }
        try wait(forClosed: 1, held: 2)

        // Somebody lets the second host go on alone.
        try web.control("confirm shop").expect(0, output: "confirmed: shop")
        try web.awaitDown("t-web")
        #expect(try web.run("killswitchctl get shop reason") == "flags\n")
        try wait(forClosed: 2, held: 1)
        try expectHeld(till)
        try canary.wait(forSample: "\(Self.errors) > 0.5")

        // The order is taken back. The last host has never closed.
        for host in all { try host.set(Host.open, up: "t-web") }
        #expect(try till.property("InvocationID", of: "t-web") == start)
        try canary.wait(forSample: "\(Self.errors) < 0.01")
        try wait(forOpen: 3)
    }

    private func wait(forOpen count: Int) throws {
        try canary.wait(forSample: "count(killswitch_gate_open{service=\"shop\"} == 1) == \(count)")
    }
}
