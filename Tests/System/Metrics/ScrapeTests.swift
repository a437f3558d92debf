import JSON
import Support
import Testing

extension OnSystemd {
    /// Debian's Prometheus and node exporters over eight daemons on one booted system.
    @Suite struct ScrapeTests {
        /// What the dashboard asks first: who has not obeyed?
        private static func question() throws -> String {
            let path = "packaging/prometheus/killswitchd-dashboard.json"
            let dashboard = try JSON.Value.parse(try Programs.text(of: path)).object
            let panel = dashboard?["panels"]?.array?.first?.object
            let query = panel?["targets"]?.array?.first?.object?["expr"]?.string
            return try #require(query).replacing("$instance", with: ".*")
                .replacing("$service", with: ".*")
        }

        /// Seven daemons beside the installed one, each with directories, flags and an exporter of its own. They
        /// move no gates: the system has one systemd.
        private static let setUp = """
            set -e
            for n in 1 2 3 4 5 6 7; do
                mkdir -p /run/t-host/$n/run
                echo '{"state": "running", "version": 7}' > /run/t-host/$n/flags.json
                cat > /run/t-host/$n/killswitchd.toml <<END
            [source.app]
            type = "file"
            path = "flags.json"
            interval = "1s"
            [service.shop]
            source = "app"
            format = "switch"
            END
                systemd-run --quiet --unit=t-daemon-$n /usr/sbin/killswitchd \\
                    --config /run/t-host/$n/killswitchd.toml \\
                    --runtime-directory /run/t-host/$n/run --state-directory /run/t-host/$n/state
            done
            """

        /// The instances that a query names, with the label `why`.
        private func ask(_ query: String, on host: Host) throws -> Set<String> {
            let output = try host.samples(query, more: "--format=json")
            return Set(
                (try JSON.Value.parse(output).array ?? []).compactMap { sample in
                    let labels = sample.object?["metric"]?.object
                    return (labels?["instance"]?.string).map {
                        "\($0) \(labels?["why"]?.string ?? "")".replacing(
                            "127.0.0.1:910", with: "host ")
                    }
                })
        }

        @Test func theQueryNamesExactlyTheStaleTheKilledAndTheOneWhoseUnitIgnoresSIGTERM() throws {
            let host = try Host()
            try host.deafService(limit: "10min")
            try host.startUnits("t-deaf")
            try host.run(Self.setUp)
            for number in 1...7 {
                try host.startExporter(
                    of: "/run/t-host/\(number)/run", at: "127.0.0.1:910\(number)")
            }
            try host.startExporter(at: "127.0.0.1:9108")
            try host.startPrometheus(scraping: (1...8).map { "127.0.0.1:910\($0)" }, every: 2)
            // The unit would be waited for.
            let cleanUp =
                "systemctl kill --signal=KILL t-deaf; systemctl stop 't-*'; rm -rf /run/t-host"
            defer { do { try host.run(cleanUp) } catch {} }
            try host.wait(forSample: "count(killswitch_gate_wanted_open == 1) == 8")
            let question = try Self.question()
            #expect(try ask(question, on: host) == [])
            // One source is gone, one daemon is killed, one unit does not stop.
            try host.run("rm /run/t-host/3/flags.json; systemctl kill --signal=KILL t-daemon-5")
            try host.set(Host.ended)
            let expected: Set<String> = [
                "host 3 flags are old", "host 5 daemon is gone", "host 8 unit does not stop",
            ]
            // A killed daemon is gone once three signs of life are missing.
            var named: Set<String> = []
            for _ in 0..<150 where named != expected {
                try host.run("timeout 1 tail -f /dev/null || true")
                named = try ask(question, on: host)
                #expect(named.isSubset(of: expected), "\(named)")
            }
            #expect(named == expected)
        }
    }
}
