import JSON
import Support
import Testing

extension OnSystemd {
    /// A back-end that closes behind a load balancer, which follows its markers.
    @Suite(.serialized)
    struct DrainLoadTests {
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
            try LoadedServer.haproxy.install("t-front", on: host, Self.balancer)
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
            try LoadedServer.nginx.install(
                unit, on: host,
                "server { listen 127.0.0.1:\(port); location / { return 200 'shop'; } }")
            try LoadedServer.nginx.install(
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
