import Files
import Glibc
import JSON
import Support

/// A real etcd on loopback with one or more members, which a test starts, kills and writes to.
final class EtcdCluster {
    let folder: TemporaryFolder
    private(set) var members: [Member] = []
    private let options: [String]
    private let scheme: String
    /// How etcdctl logs in: `USER:PASSWORD`.
    var login: String?

    final class Member {
        let name: String
        let port: Int
        let peerPort: Int
        fileprivate(set) var data: String
        fileprivate var program: Program?
        fileprivate var isFrozen = false

        var isUp: Bool { program != nil }

        fileprivate init(_ name: String, in folder: TemporaryFolder) throws {
            self.name = name
            port = try freePort()
            peerPort = try freePort()
            data = folder(name)
        }
    }

    /// Starts a cluster and waits for its leader. With TLS it demands certificates of clients too.
    init(size: Int = 1, isSecure: Bool = false, options: [String] = []) async throws {
        folder = try TemporaryFolder()
        scheme = isSecure ? "https" : "http"
        var options = options
        if isSecure {
            try FlagServer.makeCertificates(in: folder)
            options += [
                "--cert-file", folder("server.crt"), "--key-file", folder("server.key"),
                "--trusted-ca-file", folder("authority.pem"), "--client-cert-auth",
            ]
        }
        self.options = options
        for number in 0..<size { members.append(try Member("member\(number)", in: folder)) }
        for member in members { try launch(member) }
        try await awaitLeader()
    }

    /// Ends the members before their folder is removed.
    deinit { for member in members { member.program = nil } }

    /// The value of `endpoints` in the configuration of a source.
    var endpoints: String { endpoints(members.count) }

    /// The same for its first members alone.
    func endpoints(_ count: Int) -> String {
        "[" + members.prefix(count).map { "\"\(url(of: $0))\"" }.joined(separator: ", ") + "]"
    }

    /// Starts a member that does not run, and waits until the cluster works.
    func start(_ member: Member) async throws {
        try launch(member)
        try await awaitLeader()
    }

    /// Ends a member at once, and starts it again.
    func restart(_ member: Member) async throws {
        try kill(member)
        try await start(member)
    }

    func launch(_ member: Member, port: Int? = nil) throws {
        let client = "\(scheme)://127.0.0.1:\(port ?? member.port)"
        let peer = "http://127.0.0.1:\(member.peerPort)"
        member.program = try Program(
            "/usr/bin/etcd",
            [
                "--name", member.name, "--data-dir", member.data, "--listen-client-urls", client,
                "--advertise-client-urls", client, "--listen-peer-urls", peer,
                "--initial-advertise-peer-urls", peer, "--initial-cluster", initialCluster,
                "--heartbeat-interval", "50", "--election-timeout", "500",
            ] + options)
    }

    func kill(_ member: Member) throws {
        member.program?.send(SIGKILL)
        _ = try member.program?.wait()
        member.program = nil
    }

    /// Stops a member as a hanging machine would: its connections stay.
    func freeze(_ member: Member) {
        member.isFrozen = true
        send(SIGSTOP, to: member)
    }

    func thaw(_ member: Member) {
        member.isFrozen = false
        send(SIGCONT, to: member)
    }

    func send(_ signal: Int32, to member: Member) { member.program?.send(signal) }

    /// Runs a member at another port, where the daemon does not find it, while `body` runs.
    func runHidden(_ member: Member, _ body: () async throws -> Void) async throws {
        let port = try freePort()
        try launch(member, port: port)
        hidden = "\(scheme)://127.0.0.1:\(port)"
        try await awaitLeader()
        try await body()
        hidden = nil
        try kill(member)
    }
    private var hidden: String?

    /// Runs etcdctl on the members that are up, and gives what it prints.
    @discardableResult func control(_ arguments: String...) throws -> String {
        let result = try run(arguments)
        guard result.status == 0 else {
            throw TestFailure("etcdctl \(arguments): \(result.errors)")
        }
        return result.output
    }

    /// The member that leads now.
    func leader() throws -> Member {
        let rows = try JSON.Value.parse(try control("endpoint", "status", "-w", "json")).array ?? []
        let leading = rows.compactMap(\.object).first { row in
            let status = row["Status"]?.object
            // 64 bits without a sign.
            let id = status?["header"]?.object?["member_id"]?.serialized()
            return id != nil && id == status?["leader"]?.serialized()
        }
        let endpoint = leading?["Endpoint"]?.string
        guard let member = members.first(where: { url(of: $0) == endpoint }) else {
            throw TestFailure("no member leads: \(rows)")
        }
        return member
    }

    /// How many ranges of keys the first member has answered.
    func reads() throws -> Int {
        let metrics = try Program.succeed(
            "/usr/bin/curl", ["-s", "http://127.0.0.1:\(members[0].port)/metrics"])
        let method = #"grpc_method="Range",grpc_service="etcdserverpb.KV",grpc_type="unary""#
        let line = metrics.split(separator: "\n").first {
            $0.hasPrefix("grpc_server_started_total") && $0.contains(method)
        }
        return line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) } ?? 0
    }

    /// Restores a member from a file that `etcdctl snapshot save` made.
    func restore(_ member: Member, from snapshot: String) throws {
        try kill(member)
        member.data += "-restored"
        try control(
            "snapshot", "restore", snapshot, "--name", member.name, "--data-dir", member.data,
            "--initial-cluster", initialCluster, "--initial-advertise-peer-urls",
            "http://127.0.0.1:\(member.peerPort)")
    }

    private var initialCluster: String {
        members.map { "\($0.name)=http://127.0.0.1:\($0.peerPort)" }.joined(separator: ",")
    }

    private func url(of member: Member) -> String { "\(scheme)://127.0.0.1:\(member.port)" }

    private func run(_ arguments: [String]) throws -> Program.Result {
        let up = members.filter { $0.program != nil && !$0.isFrozen }.map(url)
        var options = [
            "--command-timeout", "30s", "--endpoints", hidden ?? up.joined(separator: ","),
        ]
        if scheme == "https" {
            options += [
                "--cacert", folder("authority.pem"), "--cert", folder("client.crt"), "--key",
                folder("client.key"),
            ]
        }
        if let login { options += ["--user", login] }
        return try Program.run(
            "/usr/bin/etcdctl", options + arguments, environment: ["ETCDCTL_API": "3"])
    }

    /// Waits until a read is answered, which takes a leader.
    private func awaitLeader() async throws {
        var last = ""
        try await waitUntil("etcd works", orReport: { try account(of: last) }) {
            let result = try run(["get", "nothing"])
            last = result.errors
            return result.status == 0 || result.errors.contains("user name is empty")
        }
    }

    /// Why no read was answered: what etcdctl said last, and the end of what each member said.
    private func account(of error: String) throws -> String {
        let ends = try members.map { member in
            let log = try member.program?.errors ?? "it does not run"
            return "\(member.name):\n"
                + log.split(separator: "\n").suffix(6).joined(separator: "\n")
        }
        return ([error] + ends).joined(separator: "\n")
    }
}
