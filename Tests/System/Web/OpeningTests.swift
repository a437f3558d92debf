import JSON
import Storage
import Support
import Testing

extension OnSystemd {
    /// The file that web servers look at, while the units of an opening gate start.
    @Suite struct OpeningTests {
        private static let marker = "/run/killswitchd/shop/unavailable"

        /// A unit that is up once `/run/t-go` is there, and one that never is. The page stays over the end of a daemon
        /// and a deletion by hand.
        @Test func thePageStaysUntilTheUnitIsUp() throws {
            let host = try Host()
            try slowUnit(on: host, "TimeoutStartSec=infinity")
            try host.unit("t-broken.service", "[Service]\nType=oneshot\nExecStart=/bin/false\n")
            try host.run("touch /run/t-go")
            try host.start(attaching: "t-slow.service t-broken.service --run-at-open")
            try host.run("systemctl start t-slow")
            try host.wait(until: "! test -e \(Self.marker)")

            try host.set(Host.maintenance)
            try host.wait(until: "test -e /run/killswitchd/shop/closed")
            try host.run("test -e \(Self.marker)")
            try host.awaitDown("t-slow")
            try host.run("rm /run/t-go")
            try host.set(Host.open)
            try host.wait(until: "systemctl show -P ActiveState t-slow | grep -qx activating")
            try host.run("test -e /run/killswitchd/shop/open && test -e \(Self.marker)")
            try expectStarting(host)

            let before = try host.property("MainPID")
            try host.run("kill -9 \(before)")
            try host.wait(
                until: "systemctl is-active --quiet killswitchd && "
                    + "test $(systemctl show killswitchd -P MainPID) != \(before)")
            try host.run("test -e \(Self.marker)")
            try host.run("cd /run/killswitchd/shop && rm unavailable problem.json retry-after")
            try host.wait(until: "test -e \(Self.marker)")
            try expectStarting(host)

            try host.run("touch /run/t-go")
            try host.wait(until: "! test -e \(Self.marker)")
            #expect(try host.property("ActiveState", of: "t-slow") == "active")
            try host.wait(until: "! grep -q 'One moment' /run/killswitchd/shop/page.html")
            #expect(try host.sentences(of: .unitsSlow).isEmpty)
            // A restart of the open service shows nobody the page, and what has come down is not made again.
            try host.run("systemctl restart t-slow; systemctl restart killswitchd")
            try host.run("! test -e \(Self.marker)")
        }

        /// systemd starts the unit again and again. After its limit people get what the web server makes of it.
        @Test func aUnitThatNeverStartsKeepsThePageForItsLimit() throws {
            let host = try Host()
            try slowUnit(
                on: host,
                """
                TimeoutStartSec=1s
                Restart=always
                RestartSec=100ms
                [Unit]
                StartLimitIntervalSec=0
                """)
            try host.run("rm -f /run/t-go")
            try host.set(Host.maintenance)
            try host.start(attaching: "t-slow.service")
            // Otherwise the gate may open before the daemon knows the unit, and it awaits nothing.
            try host.run("killswitchctl wait shop --for down --timeout 30s")
            try host.wait(until: "grep -q t-slow /run/killswitchd/shop/units.json")
            try host.run("test -e \(Self.marker)")
            try host.set(Host.open)
            try host.wait(until: "! test -e \(Self.marker)")
            #expect(
                try host.sentences(of: .unitsSlow) == [
                    "shop: not up after 3 s: t-slow.service; web servers send requests to the service "
                        + "from now on"
                ])
        }

        private func expectStarting(_ host: Host) throws {
            try host.wait(for: "One moment", in: "shop/page.html")
            try host.run("grep -q '\"state\": \"starting\"' /run/killswitchd/shop/problem.json")
            try host.run("grep -qx '5 *' /run/killswitchd/shop/retry-after")
        }

        private func slowUnit(on host: Host, _ settings: String) throws {
            try host.unit(
                "t-slow.service",
                """
                [Service]
                Type=notify
                NotifyAccess=all
                ExecStart=/bin/sh -c 'until test -e /run/t-go; do sleep 0.1; done; \
                systemd-notify --ready; exec sleep infinity'
                \(settings)

                """)
        }
    }

    /// A back-end that closes behind a load balancer, which follows its markers.
    @Suite struct DrainLoadTests {
        /// With a drain HAProxy has turned away before the unit stops. Without one, requests fail until it has noticed.
        ///
        /// HAProxy notices by five failed checks, half a second apart. It once checked every 100 ms and believed the
        /// first check: on a busy machine it had sometimes turned away before the unit stopped, and nothing failed.
        /// Five checks leave the unit two seconds to stop.
        @Test(arguments: [true, false])
        func noRequestFailsWhileABackEndDrains(_ isDrained: Bool) throws {
            let drain = isDrained ? #"drain = "6s""# : ""
            let host = try Host(Host.service("one", drain) + Host.service("two", drain), flags: nil)
            for name in ["one", "two"] { try host.set(Host.open, of: name) }
            try backEnd("t-one", port: 8081, checkedOn: 8091, "one", on: host)
            try backEnd("t-two", port: 8082, checkedOn: 8092, "two", on: host)
            try WebServerKind.haproxy.install("t-front", on: host, Self.balancer)
            try host.start()
            try host.run("killswitchctl attach one t-one; killswitchctl attach two t-two")
            try host.run("systemctl start t-one t-two t-one-check t-two-check t-front")
            for name in ["one", "two"] {
                try host.wait(until: "test -e /run/killswitchd/\(name)/open")
            }
            try host.wait(until: "curl --silent --fail http://127.0.0.1:8000/")

            try host.system.copy(
                "\(Programs.project)/Tests/System/Web/steady-requests", to: "/run/t-web")
            let close = "echo '\\''\(Host.maintenance)'\\'' > /etc/killswitchd/one.json"
            let output = try host.run(
                "/usr/bin/python3 /run/t-web/steady-requests 8000 12 '\(close)'")
            let result = try #require(JSON.Value.parse(Array(output.utf8)).object, "\(output)")
            let sent = try #require(result["sent"]?.number?.int64)
            let failed = try #require(result["failed"]?.number?.int64)
            #expect(sent > 1000, "\(output)")
            #expect(isDrained ? failed == 0 : failed > 0, "\(output)")
            try host.awaitDown("t-one")
            #expect(try host.property("ActiveState", of: "t-two") == "active")
        }

        /// A server of answers, and beside it one that shows the marker of the service to health checks.
        private func backEnd(
            _ unit: String, port: Int, checkedOn check: Int, _ service: String, on host: Host
        ) throws {
            try WebServerKind.nginx.install(
                unit, on: host,
                "server { listen 127.0.0.1:\(port); location / { return 200 'shop'; } }")
            try WebServerKind.nginx.install(
                "\(unit)-check", on: host,
                """
                server {
                    listen 127.0.0.1:\(check);
                    location / { root /run/killswitchd/\(service); try_files /open =404; }
                }
                """)
        }

        /// Neither a second try nor another server hides a failure.
        private static let balancer = """
            frontend web
                bind 127.0.0.1:8000
                default_backend shop
            backend shop
                balance roundrobin
                retries 0
                option httpchk GET /
                http-check expect status 200
                default-server check inter 500ms fall 5 rise 1
                server one 127.0.0.1:8081 port 8091
                server two 127.0.0.1:8082 port 8092

            """
    }
}
