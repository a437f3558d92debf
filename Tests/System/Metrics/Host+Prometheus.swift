import Support

/// Debian's Prometheus and node exporter as units of a host, which the next reset removes.
extension Host {
    /// Starts an exporter that shows the files `*.prom` of a folder, by default those of the daemon.
    func startExporter(
        of folder: String = "/run/killswitchd", at address: String = "127.0.0.1:9100"
    ) throws {
        let port = address.split(separator: ":").last ?? ""
        try run(
            """
            systemd-run --quiet --unit=t-exporter-\(port) prometheus-node-exporter \\
                --collector.disable-defaults --collector.textfile \\
                --collector.textfile.directory=\(folder) --web.listen-address=\(address)
            """)
    }

    /// Starts a Prometheus that scrapes these targets.
    func startPrometheus(
        scraping targets: [String], every seconds: Int = 1, at address: String = "127.0.0.1:9090"
    ) throws {
        let folder = "/run/t-prometheus"
        try system.write(
            Prometheus.configuration(scraping: targets, every: seconds),
            to: "\(folder)/prometheus.yml")
        let arguments = Prometheus.arguments(in: folder, at: address).joined(separator: " ")
        try run("systemd-run --quiet --unit=t-prometheus prometheus \(arguments)")
    }

    /// What a query gives now, one sample a line.
    func samples(_ query: String, more: String = "") throws -> String {
        try system.write(query, to: "/run/t-query")
        return try run(
            "promtool query instant \(more) http://127.0.0.1:9090 \"$(cat /run/t-query)\"")
    }

    /// Waits until a query gives a sample.
    func wait(forSample query: String, limit: Duration = longestWait) throws {
        try system.write(query, to: "/run/t-query")
        try wait(
            until:
                "promtool query instant http://127.0.0.1:9090 \"$(cat /run/t-query)\" | grep -q '=>'",
            limit: limit)
    }

    /// Stops what takes time while the next test runs.
    func stopPrometheus() throws {
        try run("systemctl stop 't-exporter-*' t-prometheus; rm -rf /run/t-prometheus /run/t-host")
    }
}
