import JSON
import Support
import Testing

extension OnSystemd {
    /// What a host says in a real etcd of units that are really stopped.
    @Suite struct BriefUnitTests {
        private static func service(_ name: String) -> String {
            """
            [service.\(name)]
            source = "app"
            format = "status"
            key = "\(name)"

            """
        }

        private static let configuration =
            """
            [source.app]
            type = "etcd"
            endpoints = ["http://127.0.0.1:2379"]
            prefix = "/flags/"
            interval = "1h"
            [report]
            etcd = "app"
            spread = "0s"

            """ + service("shop") + service("mail")

        private func put(_ isInactive: Bool, on host: Host) throws {
            for service in ["shop", "mail"] {
                try host.run(
                    "ETCDCTL_API=3 etcdctl put /flags/\(service) "
                        + "'{\"apiInactive\": \(isInactive), \"forceUpdate\": false}'")
            }
        }

        private let get = "ETCDCTL_API=3 etcdctl get --prefix /flags-hosts/ --print-value-only"

        /// The members of a service in what the host says.
        private func words(of service: String, in brief: JSON.Object) -> String? {
            let services = (brief["services"]?.array ?? []).compactMap(\.object)
            guard let own = services.first(where: { $0["service"]?.string == service }),
                own["gate"] == "closed"
            else { return nil }
            return ([own["status"]?.string ?? "-"] + own.strings("units")).joined(separator: " ")
        }

        /// All that the host has said of the closed service, of every revision of the cluster, without repetitions.
        private func told(of service: String, on host: Host) throws -> [String] {
            let values = try host.run(
                """
                last=$(ETCDCTL_API=3 etcdctl get / -w json | grep -o '"revision":[0-9]*' | cut -d : -f 2)
                for revision in $(seq 1 "$last"); do \(get) --rev="$revision"; done
                """
            ).split(separator: "\n").compactMap { try JSON.Value.parse(String($0)).object }
            let all = values.compactMap { words(of: service, in: $0) }
            return all.enumerated().filter { $0 == 0 || all[$0 - 1] != $1 }.map(\.element)
        }

        /// Waits until the host says this of the closed service.
        private func wait(
            on host: Host, for service: String, _ status: String, limit: Duration = .seconds(120)
        ) throws {
            let words = #""service":"\#(service)",[^}]*"gate":"closed",[^}]*"status":"\#(status)""#
            try host.wait(until: "\(get) | grep -q '\(words)'", limit: limit)
        }

        /// One unit stops when the test says so. The other one ignores SIGTERM, and systemd lets it, past its limit. A
        /// brief is due when all units have obeyed or are past their limit, and within two minutes anyhow: by then a
        /// host that says it too early has said it.
        @Test func nothingIsAppliedWhileAProcessRuns() throws {
            let host = try Host(Self.configuration, flags: nil)
            defer { do { try host.run(HungStopTests.release) } catch {} }
            try host.run(
                """
                mkfifo /run/t-go
                systemd-run --quiet --unit t-etcd --service-type notify etcd --data-dir /run/t-etcd
                """)
            try put(false, on: host)
            // Its last process writes down what is known of it.
            try host.unit(
                "t-hung-slow.service",
                """
                [Service]
                ExecStart=/bin/sleep infinity
                ExecStop=/bin/sh -c 'read line < /run/t-go'
                ExecStopPost=/bin/sh -c '\(get) > /run/t-told'
                TimeoutStopSec=10min
                """)
            try host.deafService(
                "t-hung-deaf", limit: "20s",
                "ExecStop=/bin/sh -c 'systemd-notify EXTEND_TIMEOUT_USEC=600000000; exec sleep infinity'"
            )
            try host.start(attaching: "t-hung-slow")
            try host.run(
                "killswitchctl attach mail t-hung-deaf; systemctl start t-hung-slow t-hung-deaf")
            try host.run("killswitchctl wait shop --for up --timeout 1m")
            try host.run("killswitchctl wait mail --for up --timeout 1m")
            try put(true, on: host)

            try wait(on: host, for: "mail", "failed", limit: .seconds(240))
            #expect(try host.property("ActiveState", of: "t-hung-deaf") == "deactivating")
            try host.control("fleet mail --etcd app --for down").expect(
                1, output: "failed", "unit 't-hung-deaf.service' is not down")
            try wait(on: host, for: "shop", "applying")
            #expect(try host.property("ActiveState", of: "t-hung-slow") == "deactivating")
            try host.control("fleet shop --etcd app --for down").expect(
                1, output: "late", "unit 't-hung-slow.service' is not down")
            try host.run("timeout 20 sh -c 'echo > /run/t-go'")
            try host.run(HungStopTests.release.replacing("t-hung*", with: "t-hung-deaf"))
            try wait(on: host, for: "shop", "applied")
            try wait(on: host, for: "mail", "applied")
            #expect(try host.property("MainPID", of: "t-hung-deaf") == "0")
            let mail = try told(of: "mail", on: host)
            #expect(mail.last == "applied")
            #expect(mail.dropLast().allSatisfy { $0.hasSuffix(" t-hung-deaf.service") }, "\(mail)")
            #expect(try host.run("cat /run/t-told").contains("t-hung-slow.service"))
            #expect(
                try told(of: "shop", on: host) == ["applying t-hung-slow.service", "applied"])
            try host.control("fleet shop --etcd app --for down").expect(
                0, output: "1 of 1 host has obeyed\n")
        }
    }
}
