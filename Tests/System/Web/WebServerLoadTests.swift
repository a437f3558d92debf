import JSON
import Support
import Testing

extension OnSystemd {
    /// nginx with the snippet of the package, before a back-end, under requests.
    @Suite(.serialized)
    struct WebServerLoadTests {
        /// No request is without an answer while the service closes and opens, and nginx is never told.
        @Test func eachOfAThousandRequestsASecondIsAnswered() throws {
            let host = try Host()
            try nginx(
                "t-back",
                "server { listen 127.0.0.1:8080; location / { return 200 'shop'; } }", on: host)
            try nginx(
                "t-front",
                """
                server {
                    listen 127.0.0.1:80;
                    keepalive_requests 100000;
                    set $killswitch_service shop;
                    set $killswitch_health "";
                    include /usr/share/killswitchd/web/nginx.conf;
                    location / {
                        include /usr/share/killswitchd/web/nginx-sunset.conf;
                        proxy_pass http://127.0.0.1:8080;
                    }
                }
                """, on: host)
            try host.start()
            try host.run("systemctl start t-back t-front")
            try host.wait(until: "test -e /run/killswitchd/shop/open")
            try host.wait(until: "curl --silent --fail http://127.0.0.1/")
            let before = try host.property("InvocationID", of: "t-front")
            let processes = try host.run("pgrep --parent $(cat /run/t-front.pid)")

            try host.system.copy("\(Programs.project)/Tests/System/Web/requests", to: "/run/t-web")
            let output = try host.run(
                "/usr/bin/python3 /run/t-web/requests 80 /etc/killswitchd/shop.json 2")
            let result = try #require(JSON.Value.parse(Array(output.utf8)).object, "\(output)")
            #expect(result["sent"] == result["answered"], "\(output)")
            #expect(
                result["answers"]?.object?.map(\.key).sorted() == ["200 shop", "503 page"],
                "\(output)")
            #expect(
                result["while_closed"]?.object?.map(\.key) == ["503 page"], "\(output)")

            #expect(try host.property("InvocationID", of: "t-front") == before)
            #expect(try host.run("pgrep --parent $(cat /run/t-front.pid)") == processes)
            #expect(try !host.run("cat /run/t-front.log").contains("[error]"))
        }

        /// Makes a unit that runs an nginx with this server, as Debian's nginx runs.
        private func nginx(_ name: String, _ server: String, on host: Host) throws {
            try host.system.write(
                """
                user www-data;
                pid /run/\(name).pid;
                error_log /run/\(name).log;
                events {}
                http {
                    access_log off;
                    \(server)
                }
                """, to: "/run/\(name).conf")
            try host.unit(
                "\(name).service",
                """
                [Service]
                ExecStart=/usr/sbin/nginx -c /run/\(name).conf -e /run/\(name).log -g 'daemon off;'
                KillSignal=SIGQUIT
                """)
        }
    }
}
