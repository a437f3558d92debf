import JSON
import Support
import Testing

extension OnSystemd {
    /// The unit of the alert silence, as its first lines and killswitchd-metrics(7) say, with Debian's Alertmanager.
    @Suite struct SilenceUnitTests {
        private static let amtool = "amtool --alertmanager.url=http://localhost:9093"

        /// The silences in force, with the seconds that are left of each.
        private func silences(on host: Host) throws -> [(silence: JSON.Object, left: Int)] {
            let list = try host.json("\(Self.amtool) silence query -o json")
            return try (list.array ?? []).compactMap(\.object).map { silence in
                let end = try #require(silence["endsAt"]?.string)
                let left = try host.run("echo $(($(date --date='\(end)' +%s) - $(date +%s)))")
                return (silence, Int(left.dropLast()) ?? 0)
            }
        }

        private func wait(forSilences count: Int, on host: Host) throws {
            try host.wait(
                until:
                    "test $(\(Self.amtool) silence query -o json | grep -o '\"id\"' | wc -l) = \(count)"
            )
        }

        /// The alerts of this host that somebody would get.
        private func alerts(on host: Host) throws -> String {
            try host.run(
                "\(Self.amtool) alert query | grep -o ShopErrors || true"
            )
        }

        @Test func itIsHeldWhileFlagsCloseTheServiceAndEndsWhenItOpens() throws {
            let host = try Host.running("t-web")
            defer { do { try host.run("systemctl stop t-alertmanager") } catch {} }
            try host.run(
                """
                systemd-run --quiet --unit=t-alertmanager prometheus-alertmanager \\
                    --config.file=/usr/share/killswitchd/prometheus/alertmanager-example.yml \\
                    --storage.path=/run/t-alertmanager --cluster.listen-address=
                cp /usr/share/killswitchd/prometheus/killswitch-silence@.service /etc/systemd/system
                systemctl daemon-reload
                systemctl enable killswitch-silence@shop.service
                """)
            try host.wait(
                until: "\(Self.amtool) alert add ShopErrors instance=$(uname -n):9100")
            #expect(try alerts(on: host) == "ShopErrors\n")
            #expect(try silences(on: host).isEmpty)

            try host.set(Host.maintenance, down: "t-web")
            try wait(forSilences: 1, on: host)
            let (silence, left) = try #require(try silences(on: host).first)
            #expect((1380...1500).contains(left), "25 minutes: \(left) s")
            #expect(silence["createdBy"] == "killswitchd")
            let name = try host.run("uname -n").dropLast()
            #expect(silence["comment"]?.string == "flags close 'shop' on \(name)")
            #expect(try host.property("ActiveState", of: "killswitch-silence@shop") == "active")
            #expect(try alerts(on: host) == "")

            try host.set(Host.open, up: "t-web")
            try wait(forSilences: 0, on: host)
            try host.awaitDown("killswitch-silence@shop")
            #expect(try host.property("Result", of: "killswitch-silence@shop") == "success")
            #expect(try alerts(on: host) == "ShopErrors\n")
        }
    }
}
