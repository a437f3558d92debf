import JSON
import Support
import Testing

extension OnSystemd {
    /// The web servers of Debian with the snippets of the package, before a back-end, under requests.
    @Suite struct WebServerLoadTests {
        /// Each request is answered by the shop or by its page while the service closes and opens: no 502, although the
        /// back-end takes a second to start. The server is never told.
        @Test(arguments: WebServerKind.allCases)
        func eachOfAThousandRequestsASecondIsAnswered(_ server: WebServerKind) throws {
            let host = try Host(Host.service("shop", #"drain = "300ms""#))
            try installBackEnd("t-back", on: host)
            try server.install("t-front", on: host)
            try host.start(attaching: "t-back.service")
            try host.run("systemctl start t-back t-front")
            try host.wait(until: "test -e /run/killswitchd/shop/open")
            try host.wait(until: "curl --silent --fail http://127.0.0.1:8000/")
            let before = try Life(of: "t-front", on: host)
            let backEnd = try Life(of: "t-back", on: host)

            try host.system.copy("\(Programs.project)/Tests/System/Web/requests", to: "/run/t-web")
            let output = try host.run(
                "/usr/bin/python3 /run/t-web/requests 8000 /etc/killswitchd/shop.json 1")
            let result = try #require(JSON.Value.parse(Array(output.utf8)).object, "\(output)")
            #expect(result["sent"] == result["answered"], "\(output)")
            // The page of the closed service, that of the service that starts, and the two at their edges.
            let answers = Set((result["answers"]?.object ?? [:]).map(\.key))
            let usual: Set = ["200 shop", "503 page, retry after 60", "503 page, retry after 5"]
            #expect(
                answers.isSuperset(of: usual)
                    && answers.subtracting(usual).isSubset(of: server.atTheEdges), "\(output)")
            #expect(
                result["while_closed"]?.object?.map(\.key) == ["503 page, retry after 60"],
                "\(output)")

            #expect(try Life(of: "t-front", on: host) == before)
            #expect(try Life(of: "t-back", on: host) != backEnd)
            #expect(try !host.run("cat /run/t-front.log || true").contains("error]"))
        }
    }
}

extension WebServerKind {
    /// What a request may get in the moment in which the page is replaced. Apache measures a file before it opens it,
    /// so the new page may come with the length of the old one.
    fileprivate var atTheEdges: Set<String> {
        self == .apache2
            ? ["503 page", "503 cut page, retry after 60", "503 cut page, retry after 5"]
            : ["503 page"]
    }
}

/// Makes the unit of a back-end on port 8080 that starts for a second, and tells systemd when it listens.
private func installBackEnd(_ unit: String, on host: Host) throws {
    try host.system.write(
        """
        \(WebServerKind.haproxyDefaults)
        frontend shop
            bind 127.0.0.1:8080
            http-request return status 200 content-type text/plain string "shop"

        """, to: "/run/\(unit).conf")
    try host.unit(
        "\(unit).service",
        """
        [Service]
        Type=notify
        ExecStartPre=/bin/sleep 1
        ExecStart=/usr/sbin/haproxy -Ws -f /run/\(unit).conf
        KillMode=mixed

        """)
}

/// A start of a unit with its processes: a reload begins new ones.
private struct Life: Equatable {
    let invocation: String
    let processes: String

    init(of unit: String, on host: Host) throws {
        invocation = try host.property("InvocationID", of: unit)
        processes = try host.run(
            "main=$(systemctl show \(unit) -P MainPID); echo $main; pgrep --parent $main || true")
    }
}

/// A web server in a unit of its own, which runs as the server of Debian does.
extension WebServerKind {
    /// Makes the unit. It listens on port 8000, before a back-end on port 8080.
    func install(_ unit: String, on host: Host) throws {
        try install(
            unit, on: host,
            site(
                8000, before: 8080, snippets: "/etc/killswitchd/web", runtime: "/run/killswitchd"))
    }

    /// Makes the unit of a server with this site.
    func install(_ unit: String, on host: Host, _ site: String) throws {
        let file = "/run/\(unit).conf"
        try host.system.write(configuration(of: unit, site), to: file)
        let command =
            switch self {
            case .nginx:
                """
                ExecStart=/usr/sbin/nginx -c \(file) -e /run/\(unit).log -g 'daemon off;'
                KillSignal=SIGQUIT
                """
            case .apache2: "ExecStart=/usr/sbin/apache2 -D FOREGROUND -f \(file)"
            case .haproxy:
                """
                ExecStart=/usr/sbin/haproxy -db -f \(file)
                BindReadOnlyPaths=/run/killswitchd:/var/lib/haproxy/run/killswitchd
                """
            case .caddy:
                """
                ExecStart=/usr/bin/caddy run --config \(file) --adapter caddyfile
                Environment=HOME=/run/\(unit)
                User=www-data
                """
            }
        try host.unit("\(unit).service", "[Service]\n\(command)\n")
    }

    private func configuration(of unit: String, _ site: String) -> String {
        switch self {
        case .nginx:
            """
            user www-data;
            pid /run/\(unit).pid;
            error_log /run/\(unit).log;
            events {}
            http {
                access_log off;
                keepalive_requests 100000;
                \(site)
            }
            """
        case .apache2:
            // A fixed number of processes: Apache would begin and end some by itself.
            """
            ServerRoot /usr/lib/apache2
            ServerName localhost
            User www-data
            Group www-data
            PidFile /run/\(unit).pid
            DefaultRuntimeDir /run
            ErrorLog /run/\(unit).log
            TypesConfig /dev/null
            MaxKeepAliveRequests 0
            \(Self.apacheModules)
            StartServers 4
            ServerLimit 4
            ThreadsPerChild 50
            MaxRequestWorkers 200
            MinSpareThreads 1
            MaxSpareThreads 300
            \(site)

            """
        case .haproxy:
            """
            global
                chroot /var/lib/haproxy
                user haproxy
                group haproxy
                lua-load-per-thread /etc/killswitchd/web/haproxy.lua
            \(Self.haproxyDefaults)
            \(site)
            """
        case .caddy:
            "\(Self.caddyOptions)\n\(site)"
        }
    }
}
