import Files
import Support

/// A real web server on loopback before a real back-end, with the snippet of the package for the service `shop`.
final class WebServer {
    private let folder: TemporaryFolder
    private let port: Int
    private let backend: Backend
    private let program: Program

    /// Starts a server that reads the files of a daemon in `runtime`.
    init(_ kind: WebServerKind, runtime: String) async throws {
        (folder, port, backend) = (try TemporaryFolder(), try freePort(), try await Backend())
        for name in try Directory.list("\(Programs.project)/packaging/web") {
            let text = try Programs.text(of: "packaging/web/\(name)")
            // Servers of other tests have the socket of that name.
            try folder.write(
                text.replacing("/run/killswitchd", with: runtime)
                    .replacing("@killswitchd", with: "@killswitchd-\(port)"), to: name)
        }
        let site = kind.site(
            port, before: backend.port, snippets: folder.path, runtime: runtime, health: "/healthz")
        let text = Self.configuration(of: kind, folder.path, site)
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
    func get(_ path: String, _ options: String...) throws -> WebAnswer { try get(path, options) }

    func get(_ path: String, _ options: [String]) throws -> WebAnswer {
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
                + ["http://127.0.0.1:\(port)/[1-\(times)]"], limit: .seconds(280))
        return result.output.split(separator: "\n").reduce(into: [:]) { answers, line in
            answers[String(line), default: 0] += 1
        }
    }

    /// Ends the back-end, as if it had crashed.
    func endBackend() throws { try backend.end() }

    private static func configuration(
        of kind: WebServerKind, _ folder: String, _ site: String
    ) -> String {
        switch kind {
        case .nginx: "\(Nginx.beginning(folder))\naccess_log off;\n\(site)\n}\n"
        case .apache2:
            """
            ServerRoot /usr/lib/apache2
            ServerName localhost
            PidFile \(folder)/pid
            DefaultRuntimeDir \(folder)
            ErrorLog \(folder)/error.log
            TypesConfig /dev/null
            \(WebServerKind.apacheModules)
            \(site)

            """
        case .haproxy:
            """
            global
                lua-load-per-thread \(folder)/haproxy.lua
            \(WebServerKind.haproxyDefaults)
            \(site)
            """
        case .caddy: "\(WebServerKind.caddyOptions)\n\(site)"
        }
    }
}

struct WebAnswer {
    /// 0 without an answer.
    let status: Int
    let headers: [String: String]
    let body: String

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
