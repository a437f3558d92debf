/// Debian's Prometheus, which scrapes simulated hosts each second: a test writes what each of them shows.
package final class Prometheus {
    private let exporter: FlagServer
    private let folder: TemporaryFolder
    private let port: Int
    private var program: Program?

    package var url: String { "http://127.0.0.1:\(port)" }

    /// Hosts that are away until `show`, and a Prometheus that runs from `start` on. `rules` is a file of alert rules.
    package init(scraping hosts: [String], rules: String? = nil) async throws {
        exporter = try await FlagServer(script: "fleet-hosts.py")
        (folder, port) = (try TemporaryFolder(), try freePort())
        // All hosts are paths of one exporter.
        let relabelling = """
            relabel_configs:
            - {source_labels: [__address__], target_label: instance}
            - {source_labels: [__address__], regex: (.*), replacement: /$1/metrics, target_label: __metrics_path__}
            - {target_label: __address__, replacement: "127.0.0.1:\(exporter.port)"}
            """
        var configuration = Self.configuration(scraping: hosts, more: relabelling)
        if let rules {
            try folder.write(rules, to: "rules.yml")
            configuration += "rule_files: [rules.yml]\n"
        }
        try folder.write(configuration, to: "prometheus.yml")
    }

    /// It writes to its folder until it ends.
    deinit { program = nil }

    package func start() throws {
        program = try Program(
            "/usr/bin/prometheus", Self.arguments(in: folder.path, at: "127.0.0.1:\(port)"))
    }

    package func kill() throws {
        program?.send(9)
        _ = try program?.wait()
        program = nil
    }

    /// From now on a host shows these metrics.
    package func show(_ metrics: String, on host: String) throws {
        try exporter.folder.write(metrics, to: "\(host).prom")
    }

    /// Nothing answers on this host any more.
    package func turnOff(_ host: String) { exporter.folder.remove("\(host).prom") }
}

extension Prometheus {
    /// A configuration that scrapes these targets. `more` are settings of the job.
    package static func configuration(
        scraping targets: [String], every seconds: Int = 1, more: String = ""
    ) -> String {
        let list = targets.map { "\"\($0)\"" }.joined(separator: ", ")
        let settings = more.split(separator: "\n").map { "  \($0)\n" }.joined()
        return """
            global: {scrape_interval: \(seconds)s, scrape_timeout: \(seconds)s}
            scrape_configs:
            - job_name: node
              static_configs: [{targets: [\(list)]}]
            \(settings)
            """
    }

    /// The arguments of a Prometheus whose `prometheus.yml` and data are in `folder`.
    package static func arguments(in folder: String, at address: String) -> [String] {
        [
            "--config.file=\(folder)/prometheus.yml", "--storage.tsdb.path=\(folder)/tsdb",
            "--web.listen-address=\(address)",
        ]
    }
}
