import Configuration
import Testing

/// The table `[metrics]`.
@Suite struct MetricsSettingsTests {
    private static let shop = """
        [service.shop]
        source = "file:shop.json"
        format = "switch"
        """

    private func textfile(_ more: String) throws -> String? {
        try load(Self.shop + "\n" + more).textfile
    }

    @Test func theTextfileIsAPathThatTheNodeExporterReads() throws {
        let path = "/var/lib/prometheus/node-exporter/killswitchd.prom"
        #expect(try textfile("[metrics]\ntextfile = \"\(path)\"") == path)
        #expect(try textfile("[metrics]") == nil)
        #expect(try textfile("") == nil)
    }

    @Test(arguments: [
        (
            #"textfile = "killswitchd.prom""#,
            "bad path 'killswitchd.prom' for 'textfile' in [metrics]: write the whole path, from '/'"
        ),
        (
            #"textfile = "/var/lib/killswitchd.txt""#,
            "bad path '/var/lib/killswitchd.txt' for 'textfile' in [metrics]: "
                + "the node exporter reads files '*.prom' alone"
        ),
        (
            #"textfile = """#,
            "bad path '' for 'textfile' in [metrics]: write the whole path, from '/'"
        ),
        (
            "textfile = true",
            "wrong type for 'textfile' in [metrics]: expected the path of a file, found a boolean"
        ),
        (
            #"textfil = "/a.prom""#,
            "unknown key 'textfil' in [metrics]; did you mean 'textfile'?"
        ),
    ])
    func anErrorSaysWhatToWrite(_ metrics: String, _ message: String) {
        let printed = errors(in: Self.shop + "\n[metrics]\n" + metrics)
        #expect(printed.hasPrefix("f:5") && printed.contains(message), "\(printed)")
    }
}
