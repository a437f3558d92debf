import Files
import Glibc
import Support
import Testing

/// Caches as Debian has them, before a server that says nothing of caching. They keep its document for days: orders
/// were missed, and the flags counted as new at each poll.
@Suite(.timeLimit(.minutes(5))) struct CacheTests {
    private static let letsCachesAnswer = #"headers = { Cache-Control = "max-age=86400" }"#

    /// Squid asks for files of its own too.
    private func flagRequests(of server: FlagServer) throws -> Int {
        try server.requests.count { $0.path == "/flags" }
    }

    @Test(arguments: CacheKind.allCases)
    func anOrderPassesACacheUnlessTheHeadersLetItAnswer(_ kind: CacheKind) async throws {
        let server = try await FlagServer()
        try server.folder.write(StatusFlags.maintenance.text, to: "document")
        try await server.behave("old-document")
        let cache = try await Cache(kind, before: server)
        let daemon = try Daemon(
            source: """
                type = "http"
                url = "\(cache.url)"
                interval = "500ms"
                timeout = "2s"
                """,
            service: """
                format = "status"
                max_stale = "10s"
                when_stale = "closed"
                """)
        daemon.server = cache
        try await daemon.start(awaiting: "maintenance")
        try server.folder.write(StatusFlags.running.text, to: "document")
        try await daemon.awaitState("running")
        #expect(try daemon.lines(with: "a cache on the way").isEmpty)

        // The cache answers, and says for how long.
        try daemon.edit("timeout = \"2s\"", "timeout = \"2s\"\n\(Self.letsCachesAnswer)")
        try daemon.control("reload").expect(0)
        try await daemon.awaitLine("source 'app': a cache on the way answers in place of the")
        let requests = try flagRequests(of: server)
        try server.folder.write(StatusFlags.updateRequired.text, to: "document")
        try await daemon.awaitStatus("a cache on the way answers in place")
        try await daemon.awaitReason("stale-closed", state: "maintenance")
        #expect(try flagRequests(of: server) == requests)
        let status = try daemon.control("status", "--json").expect(0)
        let age = status.output.firstMatch(of: /"age": ([0-9]+)/).flatMap { Int($0.1) }
        #expect(age ?? 0 >= 10)

        // The server answers again.
        try daemon.edit(Self.letsCachesAnswer, "")
        try daemon.control("reload").expect(0)
        try await daemon.awaitState("update-required")
        try await daemon.awaitUntil("the problem is over") {
            try !daemon.control("status").output.contains("a cache on the way")
        }
    }
}

enum CacheKind: String, CaseIterable { case squid, apache2 }

/// A real cache on loopback, which holds the flags of a server.
private final class Cache {
    let url: String
    private let server: FlagServer
    private let folder: TemporaryFolder
    private var program: Program?

    init(_ kind: CacheKind, before server: FlagServer) async throws {
        self.server = server
        folder = try TemporaryFolder()
        let port = try freePort()
        url = "http://127.0.0.1:\(port)/flags"
        try Directory.create(folder("cache"))
        // Both have a user of their own where root starts them.
        for path in [folder.path, folder("cache")] { unsafe chmod(path, 0o777) }
        let file = folder("configuration")
        switch kind {
        case .squid:
            try folder.write(Self.squid(port, before: server.port), to: "configuration")
            program = try Program(
                "/usr/sbin/squid", ["-N", "-d", "1", "-n", "test\(port)", "-f", file])
        case .apache2:
            let text = Self.apache(port, before: server.port, folder.path)
            try folder.write(text, to: "configuration")
            program = try Program("/usr/sbin/apache2", ["-X", "-f", file])
        }
        let (program, url) = (program, url)
        try await waitUntil(
            "\(kind.rawValue) answers from its cache", every: .milliseconds(200),
            orReport: { try program?.errors ?? "" }
        ) {
            let options = ["--silent", "--include", "--max-time", "20", url]
            let answer = try Program.run("/usr/bin/curl", options).output
            return answer.contains(" 200 ") && answer.contains("\r\nAge: ")
        }
    }

    /// It writes to its folder until it ends.
    deinit { program = nil }

    /// The configuration of the package at another port. It writes to no file of the system.
    private static func squid(_ port: Int, before server: Int) throws -> String {
        let packaged = try File.read("/etc/squid/squid.conf", limit: 1 << 20)
        let changed = ["#", "http_port ", "coredump_dir "]
        let lines = String(decoding: packaged, as: UTF8.self).split(separator: "\n")
            .filter { line in !changed.contains { line.hasPrefix($0) } }
        return """
            \(lines.joined(separator: "\n"))
            http_port 127.0.0.1:\(port) accel defaultsite=127.0.0.1:\(server) no-vhost
            cache_peer 127.0.0.1 parent \(server) 0 no-query originserver no-digest
            visible_hostname localhost
            pid_filename none
            access_log none
            cache_log /dev/null
            netdb_filename none
            pinger_enable off

            """
    }

    /// A proxy with the lines of Debian's `cache_disk.conf`.
    private static func apache(_ port: Int, before server: Int, _ folder: String) -> String {
        """
        ServerRoot /usr/lib/apache2
        ServerName localhost
        PidFile \(folder)/pid
        DefaultRuntimeDir \(folder)
        ErrorLog \(folder)/error.log
        \(WebServerKind.apacheModules)
        LoadModule cache_module modules/mod_cache.so
        LoadModule cache_disk_module modules/mod_cache_disk.so
        TypesConfig /dev/null
        Listen 127.0.0.1:\(port)
        CacheRoot \(folder)/cache
        CacheDirLevels 2
        CacheDirLength 1
        CacheEnable disk /
        ProxyPass / http://127.0.0.1:\(server)/

        """
    }
}
