import CivilTime
import EventLoop
import Files
import Support
import Testing

@Suite(.timeLimit(.minutes(5))) struct NginxTests {
    private let closed = StatusFlags.maintenance.text
    private let open = StatusFlags.running.text

    private func serving(_ flags: String) async throws -> Nginx {
        let nginx = try await Nginx()
        try nginx.folder.write(flags, to: "www/flags.json")
        return nginx
    }

    private func await304(of path: String, on nginx: Nginx, by protocol: String) async throws {
        try await waitUntil("a 304 comes") { try nginx.log.contains("\(`protocol`) 304 \(path)") }
    }

    @Test func flagsAreFetchedOverHTTP2WithAClientCertificateAndAPrivateAuthority() async throws {
        let nginx = try await serving(open)
        let daemon = try Daemon(
            asking: "https://localhost:\(nginx.port)/flags.json",
            source: """
                ca = "\(nginx.folder("authority.pem"))"
                client_certificate = "\(nginx.folder("client.crt"))"
                client_key = "\(nginx.folder("client.key"))"
                """)
        try await daemon.start(awaiting: "running")
        try await await304(of: "/flags.json", on: nginx, by: "HTTP/2.0 SUCCESS")
        #expect(try nginx.log.first == "HTTP/2.0 SUCCESS 200 /flags.json")
        try nginx.folder.write(closed, to: "www/flags.json")
        try await daemon.awaitState("maintenance")
        #expect(try daemon.warnings.isEmpty)
    }

    /// Certificate and key may be in one file, which the service manager provides.
    @Test func aClientCertificateIsReadFromACredential() async throws {
        let nginx = try await serving(closed)
        let daemon = try Daemon(
            asking: "https://localhost:\(nginx.port)/flags.json",
            source: """
                ca = "authority.pem"
                client_certificate = "client.pem"
                """)
        daemon.environment = ["CREDENTIALS_DIRECTORY": nginx.folder.path]
        try await daemon.start(awaiting: "maintenance")
    }

    @Test func withoutTheCertificateTheServerRefuses() async throws {
        let nginx = try await serving(closed)
        let daemon = try Daemon(
            asking: "https://localhost:\(nginx.port)/flags.json",
            source: #"ca = "\#(nginx.folder("authority.pem"))""#)
        try await daemon.start(awaitingLine: "the server answers 400")
        #expect(try daemon.member("state") == #""undecided""#)
    }

    @Test func flagsAreFetchedOverAUnixSocket() async throws {
        let nginx = try await serving(closed)
        let daemon = try Daemon(
            asking: "http://localhost/flags.json",
            source: #"unix_socket = "\#(nginx.folder("socket"))""#)
        try await daemon.start(awaiting: "maintenance")
        try await await304(of: "/flags.json", on: nginx, by: "HTTP/1.1 -")
    }

    /// The second change of a second was never seen: `Last-Modified` is that of the first, and nginx answers 304.
    @Test func twoChangesInASecondAreSeenWithoutAnETag() async throws {
        let nginx = try await serving(open)
        let daemon = try Daemon(
            asking: "http://localhost/dated/flags.json",
            source: #"unix_socket = "\#(nginx.folder("socket"))""#)
        try await daemon.start(awaiting: "running")
        // On a loaded machine a poll may come after the second has passed: then the time is a validator.
        let limit = EventLoop.bootClock + longestWait
        var isWithinASecond = false
        while !isWithinASecond, EventLoop.bootClock < limit {
            let began = EventLoop.bootClock
            try nginx.folder.write(closed, to: "www/flags.json")
            try await daemon.awaitState("maintenance")
            isWithinASecond = EventLoop.bootClock - began < .seconds(1)
            try nginx.folder.write(open, to: "www/flags.next")
            let document = nginx.folder("www/flags.json")
            try shell(
                "touch -r \(document) \(nginx.folder("www/flags.next")) "
                    + "&& mv \(nginx.folder("www/flags.next")) \(document)")
            if !isWithinASecond { try shell("touch \(document)") }
            try await daemon.awaitState("running")
        }
        #expect(isWithinASecond)
        // Once it is two seconds old, unchanged flags come without a body.
        try await await304(of: "/dated/flags.json", on: nginx, by: "HTTP/1.1 -")
    }

    /// Fifty sources are polled ten times a second: memory and descriptors stop growing. The benchmark in
    /// Benchmarks/http goes on to 100,000 polls.
    @Test func memoryAndDescriptorsDoNotGrowWithThePolls() async throws {
        let nginx = try await serving(open)
        let sources = (1...50).map { number in
            """
            [source.s\(number)]
            type = "http"
            url = "http://localhost/flags.json?\(number)"
            unix_socket = "\(nginx.folder("socket"))"
            interval = "100ms"
            [service.s\(number)]
            source = "s\(number)"
            format = "status"

            """
        }
        let daemon = try Daemon(sources.joined(), flags: nil).start()
        // On a loaded machine the polls come late. Their pace is not tested here.
        try await waitUntil("2,000 polls are done") { try nginx.log.count > 2_000 }
        let early = try Usage(of: daemon)
        try await waitUntil("5,000 polls are done") { try nginx.log.count > 5_000 }
        let late = try Usage(of: daemon)
        // One connection for each source, besides the other descriptors of the daemon. One that the server has closed
        // is found out when the next is made.
        try await waitUntil("connections that the server has closed are gone") {
            try Usage(of: daemon).descriptors <= 50 + 20
        }
        #expect(late.anonymous <= early.anonymous + (256 << 10))
        #expect(try daemon.warnings.isEmpty)
    }
}

private struct Usage {
    let descriptors: Int
    let anonymous: Int

    init(of daemon: Daemon) throws {
        descriptors = try Directory.list("/proc/\(daemon.program?.processID ?? 0)/fd").count
        anonymous = try daemon.memory("RssAnon")
    }
}
