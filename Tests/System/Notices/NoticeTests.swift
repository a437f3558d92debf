import Files
import JSON
import Storage
import Support
import Testing

extension OnSystemd {
    /// Notices of ends and windows, and the units that pass them on.
    @Suite struct NoticeTests {
        /// A host whose service tells 31 days, and two seconds before an end. `t-mail@shop` passes it on.
        private func host() throws -> Host {
            let host = try Host(Host.service("shop", #"notify_before = ["31d", "2s"]"#))
            try host.unit(
                "t-mail@.service",
                """
                [Service]
                Type=oneshot
                EnvironmentFile=/run/killswitchd/%i/state.env
                ExecStart=/bin/sh -c 'echo "$KILLSWITCH_NOTICE_KIND: $KILLSWITCH_NOTICE" >> /run/t-told'
                """)
            try host.start()
            try host.run("killswitchctl attach --on notice shop t-mail@shop")
            return host
        }

        /// Flags of an end after so long, by the clock inside.
        private func countdown(_ host: Host, _ end: String) throws -> String {
            let time = String(try host.run("date -u -d '\(end)' +%Y-%m-%dT%H:%M:%SZ").dropLast())
            return #"{"state": "countdown", "ends_at": "\#(time)"}"#
        }

        private func awaitLines(_ count: Int, _ host: Host) throws {
            try host.wait(until: "test $(wc -l < /run/t-told) -ge \(count)")
            try host.wait(
                until:
                    "systemctl show killswitch-notice@shop.target -P ActiveState | grep -qx inactive"
            )
        }

        @Test func eachNoticeRunsTheUnitOnceAndTheGateDoesNotMove() throws {
            let host = try host()
            try host.set(try countdown(host, "10 days"))
            try awaitLines(1, host)
            try host.run("systemctl restart killswitchd; killswitchctl refresh")
            try host.set(Host.open)
            try awaitLines(2, host)
            let lines = try host.run("cat /run/t-told").split(separator: "\n")
            #expect(lines.count == 2)
            #expect(lines[0].hasPrefix("end: shop: it ends in 10 days, at 20"))
            #expect(lines[1].hasPrefix("end-cancelled: shop: its end of 20"))
            let entries = try host.journal(of: .noticePublished)
            #expect(
                entries.map { $0["KILLSWITCH_NOTICE_KIND"]?.string } == ["end", "end-cancelled"])
            #expect(entries[0]["KILLSWITCH_NOTICE_BEFORE"]?.string == "2678400")
            #expect(entries[0]["KILLSWITCH_SERVICE"]?.string == "shop")
            #expect(try host.run("killswitchctl get shop state") == "running\n")
            try host.run("systemctl is-active killswitch-open@shop.target")
            #expect(try host.sentences(of: .gateMovedElsewhere) == [])
        }

        @Test func aNoticeComesAtItsTimeAndTheEndAfterIt() throws {
            let host = try host()
            try host.set(try countdown(host, "20 seconds"))
            try awaitLines(2, host)
            try host.wait(until: "killswitchctl get shop state | grep -qx ended")
            let published = try host.journal(of: .noticePublished)
            #expect(published.map { $0["KILLSWITCH_NOTICE_BEFORE"]?.string } == ["2678400", "2"])
            #expect(try host.run("wc -l < /run/t-told") == "2\n")
            #expect(
                try host.run("cat /run/killswitchd/motd").contains(
                    "  shop is closed (ended) since 20"))
        }

        @Test func aUnitThatFailsIsNamedUntilItRunsWithoutAnError() throws {
            let host = try host()
            try host.run("mkdir /run/t-told")
            try host.set(try countdown(host, "10 days"))
            try host.wait(
                until: "killswitchctl units shop | grep -q \"it failed with result 'exit-code'\"")
            let check = try host.control("status --check")
            let lines = check.output + check.errors
            #expect(check.status == 1 && lines.contains("unit 't-mail@shop.service'"), "\(lines)")
            try host.run("rmdir /run/t-told")
            try host.set(Host.open)
            try awaitLines(1, host)
            try host.wait(until: "killswitchctl status --check")
            try host.wait(until: "! killswitchctl units shop | grep -q 'it failed'")
        }

        @Test func attachedToNoticesAUnitRunsAtNoTransition() throws {
            let host = try host()
            #expect(
                try host.attachmentFiles.contains(
                    "./killswitch-notice@shop.target.d/50-killswitch-t-mail@shop.service.conf"))
            try host.set(Host.maintenance, up: "killswitch-maintenance@shop.target")
            try host.set(Host.open, up: "killswitch-open@shop.target")
            #expect(try host.system.attempt("test -e /run/t-told").status == 1)
            // An operator tries the unit.
            try host.run("systemctl start killswitch-notice@shop.target")
            try awaitLines(1, host)
            try host.run("killswitchctl detach shop t-mail@shop.service")
            #expect(try host.attachmentFiles == "")
        }

        /// `on_change` of the configuration: nobody has to type a command.
        @Test func eachChangeOfTheStateRunsTheUnitsOfOnChangeOnce() throws {
            let host = try Host(Host.service("shop", #"on_change = ["t-news@%s.service"]"#))
            try host.unit(
                "t-news@.service",
                """
                [Service]
                Type=oneshot
                EnvironmentFile=/run/killswitchd/%i/state.env
                ExecStart=/bin/sh -c 'echo "$KILLSWITCH_STATE" >> /run/t-told'
                """)
            try host.services("t-web")
            try host.open("t-web")
            try host.wait(until: "grep -qx running /run/t-told")
            try host.run("systemctl restart killswitchd; killswitchctl refresh")
            try host.set(Host.maintenance, down: "t-web")
            try host.wait(until: "grep -qx maintenance /run/t-told")
            try host.set(Host.ended)
            try host.wait(until: "grep -qx ended /run/t-told")
            #expect(try host.run("cat /run/t-told") == "running\nmaintenance\nended\n")
            #expect(
                try host.run("killswitchctl units shop").contains("t-news@shop.service"))
            // It is no unit of the gate: it runs while the gate is closed, and nothing waits for it.
            #expect(try host.control("wait shop --for down --timeout 10s").status == 0)
            #expect(try host.control("status --check").status == 0)
        }

        /// At a login a FIFO in the daemon's directory would be waited for without an end, and a file of gigabytes
        /// read. So nothing of the daemon is opened there.
        @Test func nothingThatTheDaemonsUserMakesBlocksALoginOrSteersTheTerminal() throws {
            let host = try Host(flags: Host.maintenance)
            let shown = "/run/motd.d/killswitchd"
            let closed = "shop is closed (maintenance) since"
            try host.start()
            try host.wait(until: "grep -q '\(closed)' \(shown)")
            #expect(try host.run("stat -c '%U %a %F' \(shown)") == "root 644 regular file\n")
            try host.run("/usr/sbin/useradd --no-create-home --shell /bin/true t-operator")
            defer {
                do {
                    try host.run("/usr/sbin/userdel --force t-operator; rm -f /run/motd.dynamic")
                } catch {}
            }
            let asDaemon = "setpriv --reuid killswitchd --regid killswitchd --clear-groups"
            try host.run(
                """
                systemctl stop killswitchd
                rm /run/killswitchd/motd
                \(asDaemon) mkfifo /run/killswitchd/motd
                """)
            let login = try host.run(
                """
                timeout 60 \(BootedSystem.login)
                systemctl stop user@$(id -u t-operator)
                """)
            #expect(login.contains(closed), "\(login)")
            #expect(try host.system.attempt("\(asDaemon) rm -f \(shown)").status != 0)
            // Somebody who has taken over the daemon sends anything.
            try host.system.write(
                #"""
                import socket
                sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                text = "first\n\x1b[2Jsecond\x9b2J\n" + "x" * 1000 + "\n" * 1000 + "y\n" * 1000
                sender.sendto(text.encode(), "/run/killswitchd-motd.sock")
                """#, to: "/run/t-send/send.py")
            try host.run("\(asDaemon) python3 /run/t-send/send.py")
            try host.wait(until: "grep -q first \(shown)")
            let text = try host.run("cat \(shown)")
            #expect(text.split(separator: "\n").count == 12 && text.utf8.count < 400, "\(text)")
            #expect(text.contains("\n\u{FFFD}[2Jsecond\u{FFFD}2J\n"), "\(text)")
            try host.run("systemctl start killswitchd")
            try host.wait(until: "grep -q '\(closed)' \(shown)")
            try host.set(Host.open)
            try host.wait(until: "test -e \(shown) -a ! -s \(shown)")
        }

        @Test(arguments: ["--state maintenance", "--run-at-open", "--early"])
        func otherTimesAreRefusedBesideNotices(_ option: String) throws {
            let host = try host()
            try host.control("attach --on notice \(option) shop t-mail@shop").expect(2)
        }
    }

    /// The guide to hooks, and the unit and the script that it installs, as they are shipped.
    @Suite struct HookTests {
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
            try host.run("killswitchctl close shop --for 1h --reason 'disk swap'")
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
