import JSON
import Support
import Testing

extension OnSystemd {
    /// Reports of gates and units that are really moved.
    @Suite struct ReportedUnitTests {
        /// A server that writes down what is posted, a line each.
        private static let server = """
            import http.server
            class Handler(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    body = self.rfile.read(int(self.headers["Content-Length"]))
                    with open("/run/t-reports", "ab") as file:
                        file.write(body)
                    self.send_response(204)
                    self.end_headers()
            http.server.HTTPServer(("127.0.0.1", 8098), Handler).serve_forever()
            """

        /// What the reports so far tell of the service, without repetitions.
        private func report(_ host: Host) throws -> [String] {
            let all = try host.run("cat /run/t-reports").split(separator: "\n").map { line in
                let report = try #require(try JSON.Value.parse(String(line)).object)
                let service = report["services"]?.array?.first?.object
                let facts = ["gate", "actual", "status"].map { service?[$0]?.string ?? "-" }
                return facts.joined(separator: " ") + ", unwanted "
                    + (service?["units_unwanted"]?.serialized() ?? "-")
            }
            return all.enumerated().filter { $0 == 0 || all[$0 - 1] != $1 }.map(\.element)
        }

        /// The closing takes seconds. In between there would be reports of a gate on its way.
        @Test func aClosingIsReportedOnceItsUnitIsDown() throws {
            let host = try Host(
                Host.shop + "[report]\nurl = \"http://127.0.0.1:8098/\"\nspread = \"0s\"\n")
            try host.system.write(Self.server, to: "/run/t-server.py")
            // Far from its limit, by which a busy machine might report it as late.
            try host.slowService(seconds: 4)
            try host.run(": > /run/t-reports")
            try host.run("systemd-run --quiet --unit t-report-server python3 /run/t-server.py")
            // An attached unit that is down would be reported, if the start came late enough.
            try host.run("systemctl daemon-reload; systemctl start t-slow")
            try host.start(attaching: "t-slow")
            try host.wait(until: "grep -q '\"status\":\"applied\"' /run/t-reports")
            try host.set(Host.ended)
            try host.wait(until: "grep -q '\"state\":\"ended\"' /run/t-reports")
            try host.set(Host.open)
            try host.wait(until: "tail -n 1 /run/t-reports | grep -q '\"state\":\"running\"'")
            let told = try report(host)
            #expect(
                told == [
                    "open open applied, unwanted 0", "closed closed applied, unwanted 0",
                    "open open applied, unwanted 0",
                ], "\(told)")
        }
    }
}
