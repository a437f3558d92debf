import Files
import Support

/// A real web server on loopback before a real back-end, with the snippet of the package for the service `shop`.
final class WebServer {
    /// The servers for which the package has a snippet.
    enum Kind: String, CaseIterable, Sendable {
        case nginx, apache2, haproxy, caddy
    }

    private let folder: TemporaryFolder
    private let port: Int
    private let backend: Backend
    private let program: Program

    /// Starts a server that reads the files of a daemon in `runtime`.
    init(_ kind: Kind, runtime: String) async throws {
        (folder, port, backend) = (try TemporaryFolder(), try freePort(), try await Backend())
        for name in try Directory.list("\(Programs.project)/packaging/web") {
            let text = try Programs.text(of: "packaging/web/\(name)")
            // Servers of other tests have the socket of that name.
            try folder.write(
                text.replacing("/run/killswitchd", with: runtime)
                    .replacing("@killswitchd", with: "@killswitchd-\(port)"), to: name)
        }
        let text =
            switch kind {
            case .nginx: Self.nginx(folder.path, port, backend.port)
            case .apache2: Self.apache2(folder.path, port, backend.port)
            case .haproxy: Self.haproxy(folder.path, port, backend.port, runtime)
            case .caddy: Self.caddy(folder.path, port, backend.port)
            }
        try folder.write(text, to: "configuration")
        let file = folder("configuration")
        let (path, arguments) =
            switch kind {
            case .nginx: ("/usr/sbin/nginx", ["-c", file, "-e", folder("error.log")])
            case .apache2: ("/usr/sbin/apache2", ["-X", "-f", file])
            case .haproxy: ("/usr/sbin/haproxy", ["-db", "-f", file])
            case .caddy: ("/usr/bin/caddy", ["run", "--config", file, "--adapter", "caddyfile"])
            }
        program = try Program(path, arguments, environment: ["HOME": folder.path])
        try await waitUntil("\(kind.rawValue) answers", orReport: { try program.errors }) {
            try get("/").status != 0
        }
    }

    /// One request by curl. `options` are more of its arguments.
    func get(_ path: String, _ options: String...) throws -> WebAnswer {
        let result = try Program.run(
            "/usr/bin/curl",
            ["--silent", "--include", "--max-time", "20"] + options
                + ["http://127.0.0.1:\(port)\(path)"])
        return WebAnswer(result.output)
    }

    /// Many requests in a row: how often each answer came, by its status and the size of its body.
    func get(times: Int) async throws -> [String: Int] {
        let result = try await Program.finish(
            "/usr/bin/curl",
            ["--silent", "--output", "/dev/null", "--write-out", "%{http_code} %{size_download}\n"]
                + ["http://127.0.0.1:\(port)/[1-\(times)]"])
        return result.output.split(separator: "\n").reduce(into: [:]) { answers, line in
            answers[String(line), default: 0] += 1
        }
    }

    /// Ends the back-end, as if it had crashed.
    func endBackend() throws { try backend.end() }

    private static func nginx(_ folder: String, _ port: Int, _ backend: Int) -> String {
        """
        \(Nginx.beginning(folder))
            access_log off;
            server {
                listen 127.0.0.1:\(port);
                set $killswitch_service shop;
                set $killswitch_health /healthz;
                include \(folder)/nginx.conf;
                location / {
                    include \(folder)/nginx-sunset.conf;
                    proxy_pass http://127.0.0.1:\(backend);
                }
            }
        }
        """
    }

    private static func apache2(_ folder: String, _ port: Int, _ backend: Int) -> String {
        let modules = [
            "mpm_event", "authz_core", "alias", "headers", "rewrite", "proxy", "proxy_http", "mime",
        ].map { "LoadModule \($0)_module modules/mod_\($0).so" }.joined(separator: "\n")
        return """
            ServerRoot /usr/lib/apache2
            ServerName localhost
            PidFile \(folder)/pid
            DefaultRuntimeDir \(folder)
            ErrorLog \(folder)/error.log
            Listen 127.0.0.1:\(port)
            TypesConfig /dev/null
            \(modules)
            <VirtualHost *:\(port)>
                Define KILLSWITCH_SERVICE shop
                Define KILLSWITCH_HEALTH /healthz
                Include \(folder)/apache2.conf
                ProxyPass / http://127.0.0.1:\(backend)/
            </VirtualHost>

            """
    }

    private static func haproxy(
        _ folder: String, _ port: Int, _ backend: Int, _ runtime: String
    ) -> String {
        """
        global
            lua-load-per-thread \(folder)/haproxy.lua
        defaults
            mode http
            timeout connect 5s
            timeout client 30s
            timeout server 30s
        frontend web
            bind 127.0.0.1:\(port)
            http-request lua.killswitch \(runtime)/shop
            http-request use-service lua.killswitch if { var(txn.killswitch_closed) -m bool } !{ path /healthz }
            http-response set-header Sunset %[var(txn.killswitch_sunset)] if { var(txn.killswitch_sunset) -m found }
            default_backend shop
        backend shop
            server one 127.0.0.1:\(backend)

        """
    }

    private static func caddy(_ folder: String, _ port: Int, _ backend: Int) -> String {
        """
        {
            admin off
            auto_https off
        }
        import \(folder)/Caddyfile
        http://127.0.0.1:\(port) {
            route {
                import killswitch shop /healthz
                import killswitch_sunset shop
                reverse_proxy 127.0.0.1:\(backend)
            }
        }

        """
    }
}

/// What a web server answers.
struct WebAnswer {
    /// 0 without an answer.
    let status: Int
    let headers: [String: String]
    let body: String

    /// The output of `curl --include`.
    fileprivate init(_ text: String) {
        var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)[...]
        var status = 0
        var headers: [String: String] = [:]
        repeat {
            // Before a body that is awaited comes "100 Continue".
            status = Int(lines.popFirst()?.split(separator: " ").dropFirst().first ?? "") ?? 0
            while let line = lines.popFirst(), !line.isEmpty {
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2 else { continue }
                headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
            }
        } while status == 100
        self.status = status
        self.headers = headers
        body = lines.joined(separator: "\r\n")
    }
}

/// A back-end that says `the shop` to every request, and answers 503 itself below `/busy`.
private final class Backend {
    let port: Int
    private let folder: TemporaryFolder
    private let program: Program

    init() async throws {
        folder = try TemporaryFolder()
        port = try freePort()
        try folder.write(
            """
            \(Nginx.beginning(folder.path))
                access_log off;
                server {
                    listen 127.0.0.1:\(port);
                    location / { return 200 "the shop"; }
                    location /busy { return 503 "too busy"; }
                }
            }
            """, to: "nginx.conf")
        program = try Program(
            "/usr/sbin/nginx", ["-c", folder("nginx.conf"), "-e", folder("error.log")])
        let (folder, program) = (folder, program)
        try await waitUntil("the back-end runs", orReport: { try program.errors }) {
            try File.exists(folder("pid"))
        }
    }

    func end() throws {
        program.send(9)
        _ = try program.wait()
    }
}
