import Files
import Support
import Testing

/// `killswitchctl fleet --etcd` and a real etcd.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FleetEtcdTests {
    /// The arguments of the command, with a configuration on this cluster.
    private func fleet(
        _ cluster: EtcdCluster, _ arguments: String..., more: String = "", members: Int = 1
    ) throws -> Program.Result {
        try cluster.folder.write(
            """
            [source.app]
            type = "etcd"
            endpoints = \(cluster.endpoints(members))
            prefix = "/flags/"
            \(more)
            [source.other]
            type = "file"
            path = "/a"
            [service.shop]
            source = "app"
            format = "status"
            key = "shop"
            [service.books]
            source = "other"
            format = "service-end"
            """, to: "fleet.toml")
        return try Programs.run(
            "killswitchctl",
            ["fleet", "shop", "--etcd", "app", "--config", cluster.folder("fleet.toml")] + arguments
        )
    }

    @Test func manyPagesAreOneTable() async throws {
        let cluster = try await EtcdCluster()
        try cluster.say(1...2300, "applied")
        try cluster.say(2301...2302, "failed", units: 1)
        try fleet(cluster, "--for", "down").expect(
            1, output: "2300 of 2302 hosts have obeyed: 2 failed\n")
        try fleet(cluster, "--for", "down", "--at-least", "99%").expect(0)
        try cluster.say(2301...2302, "applied")
        try fleet(cluster, "--for", "down", "--wait", "--timeout", "20s").expect(
            0, output: "2302 of 2302 hosts have obeyed\n")
        try fleet(cluster, "--for", "up").expect(1, output: "0 of 2302 hosts have obeyed")
    }

    /// Whoever may write there can put anything, of any size.
    @Test func valuesOfOthersAreUnknown() async throws {
        let cluster = try await EtcdCluster()
        try cluster.say(1...3, "applied")
        try cluster.control("put", "/flags-hosts/a", "nothing")
        try cluster.control("put", "/flags-hosts/b", #"{"schema":7}"#)
        try cluster.control("put", "/flags-hosts/", "")
        for number in 0..<8 {
            try shell(
                "head -c 1000000 /dev/zero | tr '\\0' x | ETCDCTL_API=3 etcdctl --endpoints "
                    + "http://127.0.0.1:\(cluster.members[0].port) put /flags-hosts/huge\(number)"
            )
        }
        try fleet(cluster, "--for", "down").expect(
            1, output: "its brief has 1000000 bytes, and 4096 are the most",
            "3 of 14 hosts have obeyed: 11 unknown\n")
    }

    @Test func withoutAnAnswerNobodyHasObeyed() async throws {
        let cluster = try await EtcdCluster(size: 3)
        try fleet(cluster).expect(
            1, output: "no host says in etcd at '/flags-hosts/' that it has the service 'shop'")
        try cluster.say(1...3, "applied")
        try fleet(cluster, "--for", "down", members: 3).expect(0)
        // The first member is dead, then the majority.
        try cluster.kill(cluster.members[0])
        try await waitUntil("there is a leader again") {
            try fleet(cluster, "--for", "down", members: 3).status == 0
        }
        try cluster.kill(cluster.members[1])
        let result = try fleet(cluster, "--for", "down", members: 3)
        #expect(result.status == 1)
        #expect(!result.output.contains("3 of 3"))
    }

    /// What is said while the leader is killed, and while no majority is left, is right or unknown.
    @Test func aLeaderThatIsKilledHasNobodyObey() async throws {
        let cluster = try await EtcdCluster(size: 3)
        try cluster.say(1...9, "applied")
        try cluster.say(10...10, "applying", units: 1)
        _ = try fleet(cluster, members: 3)
        let common = [
            "fleet", "shop", "--etcd", "app", "--config", cluster.folder("fleet.toml"), "--for",
            "down", "--wait", "--timeout",
        ]
        let waiting = try Program(try Programs.path(of: "killswitchctl"), common + ["200s"])
        try cluster.kill(try cluster.leader())
        for _ in 0..<10 {
            let said = try fleet(cluster, "--for", "down", members: 3)
            #expect(
                said.status == 1
                    && (said.output.contains("9 of 10 hosts have obeyed: 1 late\n")
                        || said.output.contains("it is not known which hosts have obeyed: etcd")),
                "\(said.output)")
        }
        try await waitUntil("there is a leader again") {
            try fleet(cluster, "--for", "down", members: 3).output.contains("9 of 10 hosts")
        }
        let up = try #require(cluster.members.first { $0.isUp })
        try cluster.say(10...10, "applied", at: up)
        #expect(try await waiting.end() == 0)
        #expect(try waiting.output == "10 of 10 hosts have obeyed\n")

        try cluster.kill(up)
        let lonely = try Program(try Programs.path(of: "killswitchctl"), common + ["8s"])
        #expect(try await lonely.end() == 124)
        #expect(try lonely.output.hasPrefix("it is not known which hosts have obeyed: etcd"))
    }

    @Test func theUserNeedsTheRightToRead() async throws {
        let cluster = try await EtcdCluster()
        try cluster.say(1...1, "applied")
        try cluster.control("user", "add", "root:admin")
        try cluster.control("user", "grant-role", "root", "root")
        try cluster.control("user", "add", "reader:secret")
        try cluster.control("role", "add", "fleet")
        try cluster.control("user", "grant-role", "reader", "fleet")
        try cluster.control("auth", "enable")
        cluster.login = "root:admin"
        try cluster.folder.write("secret", to: "password")
        try shell("chmod 600 \(cluster.folder("password"))")
        let login = "user = \"reader\"\npassword = \"\(cluster.folder("password"))\""
        try fleet(cluster, more: login).expect(
            1,
            output: "the user of the source needs the right to read what begins with '/flags-hosts'"
        )
        try cluster.control(
            "role", "grant-permission", "--prefix=true", "fleet", "read", "/flags-hosts")
        try fleet(cluster, "--for", "down", more: login).expect(0)
    }

    @Test func theSourceHasToBeInEtcd() async throws {
        let cluster = try await EtcdCluster()
        _ = try fleet(cluster)
        let configuration = cluster.folder("fleet.toml")
        func refusal(_ source: String) throws -> Program.Result {
            try Programs.run(
                "killswitchctl", ["fleet", "shop", "--etcd", source, "--config", configuration])
        }
        try refusal("apq").expect(4, errors: "no such source 'apq'; did you mean 'app'?")
        try refusal("other").expect(2, errors: "source 'other' is not of type 'etcd'")
    }
}

extension EtcdCluster {
    /// Has so many hosts say so now.
    fileprivate func say(
        _ hosts: ClosedRange<Int>, _ status: String, units: Int = 0, at member: Member? = nil
    ) throws {
        let script = """
            import base64, datetime, json, sys, urllib.request
            port, first, last, status, units = sys.argv[1:]
            now = datetime.datetime.now(datetime.timezone.utc)
            text = lambda time: time.isoformat(timespec="seconds")
            encode = lambda text: base64.b64encode(text.encode()).decode()
            puts = [{"requestPut": {
                "key": encode(f"/flags-hosts/id{number:05}"),
                "value": encode(json.dumps({
                    "schema": 1, "host": {"name": f"web-{number}", "boot_id": "b"},
                    "moves_gates": True, "left_out": {"services": 0}, "reported_at": text(now),
                    "services": [{
                        "service": "shop", "state": "maintenance", "gate": "closed",
                        "version": "8", "status": status, "units_unwanted": int(units)}]}))}}
                for number in range(int(first), int(last) + 1)]
            for start in range(0, len(puts), 100):
                body = json.dumps({"success": puts[start:start + 100]}).encode()
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v3/kv/txn", body).read()
            """
        try Program.succeed(
            "/usr/bin/python3",
            [
                "-c", script, "\((member ?? members[0]).port)", "\(hosts.lowerBound)",
                "\(hosts.upperBound)",
                status, "\(units)",
            ])
    }
}
