import Files
import Support
import Testing

extension Attached {
    /// The guide to hooks, and the unit and the script that it installs, as they are shipped.
    @Suite(.serialized)
    struct HookTests {
        private static let address = "http://127.0.0.1:8099/"

        /// A server that writes down what is posted, a line each.
        private static let server = """
            import http.server, json
            class Handler(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    body = self.rfile.read(int(self.headers["Content-Length"]))
                    with open("/run/t-posts", "a") as file:
                        file.write(json.loads(body)["text"] + "\\n")
                    self.send_response(200)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
            http.server.HTTPServer(("127.0.0.1", 8099), Handler).serve_forever()
            """

        private func serve(_ host: Host) throws {
            try host.run("systemd-run --quiet --unit t-chat-server python3 /run/t-server.py")
            try host.wait(until: "curl --silent --output /dev/null \(Self.address)")
        }

        @Test func theGuideWorksAsWrittenAndAFailedPostIsNamed() throws {
            let host = try Host(Host.service("shop", #"notify_before = ["31d"]"#))
            try host.system.write(Self.server, to: "/run/t-server.py")
            try serve(host)
            try host.start()
            let guide = try Programs.text(of: "docs/guides/hooks.md")
            try host.system.write(
                guide.replacing("https://chat.example.com/hooks/xyz", with: Self.address),
                to: "/run/t-guide/hooks.md")
            try host.system.copy(
                "\(Programs.project)/Tests/System/walk-through", to: "/run/t-guide")
            try host.system.attempt(
                "cd /run/t-guide && python3 walk-through hooks.md '## Post to a chat'"
            ).expect(0)

            try host.set(#"{"state": "maintenance", "title": "Say \"hello\" \\ $HOME"}"#)
            try host.wait(
                until: #"grep -qF "$(uname -n)"': shop: maintenance, Say "hello" \ $HOME: "#
                    + "set by the flags of source' /run/t-posts")
            try host.set(#"{"state": "running"}"#)
            try host.wait(
                until: "grep -q ': shop: running: set by the flags of source' /run/t-posts")
            // Who gave an order, and why.
            try host.run("killswitchctl force shop maintenance --for 1h --reason 'disk swap'")
            try host.wait(
                until:
                    "grep -q \": shop: maintenance: .*: 'disk swap' (by root (uid 0))$\" /run/t-posts"
            )
            try host.run("killswitchctl release shop")
            try host.wait(until: "test $(grep -c ': shop: running: ' /run/t-posts) = 2")
            let end = String(try host.run("date -u -d '10 days' +%Y-%m-%dT%H:%M:%SZ").dropLast())
            try host.set(#"{"state": "countdown", "ends_at": "\#(end)"}"#)
            try host.wait(until: "grep -q ': shop: it ends in 10 days, at ' /run/t-posts")
            try host.wait(until: "killswitchctl status --check")

            try host.run("systemctl stop t-chat-server")
            try host.set(Host.open)
            try host.wait(
                until:
                    "killswitchctl units shop | grep -q 'chat@shop:notice.service .* it failed'"
            )
            try serve(host)
            try host.set(#"{"state": "countdown", "ends_at": "\#(end)"}"#)
            try host.wait(until: "killswitchctl status --check")
        }
    }
}
