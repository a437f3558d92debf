import Support
import Testing

extension OnSystemd {
    /// A unit behind a gate, and steps that come or are held by what Debian's Prometheus has scraped.
    @Suite struct HeldStepTests {
        private static let configuration =
            Host.service("shop", "guard = \"errors\"") + """
                [guard.errors]
                prometheus = "http://127.0.0.1:9090"
                query = "shop_error_ratio < 0.01"

                """

        /// An order whose only step comes in so many seconds.
        private func order(in seconds: Int, on host: Host) throws -> String {
            let time = try host.run("date --utc --date='\(seconds) seconds' +%FT%TZ").dropLast()
            return
                #"{"state": "maintenance", "rollout": [{"at": "\#(time)", "percent": 100}]}"#
        }

        private func set(errors ratio: String, on host: Host) throws {
            try host.run(
                """
                echo 'shop_error_ratio \(ratio)' > /run/t-host/files/shop.new
                mv /run/t-host/files/shop.new /run/t-host/files/shop.prom
                """)
            try host.wait(forSample: "shop_error_ratio == \(ratio)")
        }

        @Test func aStepIsHeldWhileTheFleetIsIllAndComesWhenSomebodyConfirms() throws {
            let host = try Host(Self.configuration)
            try host.services("t-web")
            try host.startUnits("t-web")
            try host.run(
                """
                mkdir -p /run/t-host/files
                ln -s /run/killswitchd/metrics.prom /run/t-host/files/killswitchd.prom
                """)
            defer { do { try host.stopPrometheus() } catch {} }
            try host.startExporter(of: "/run/t-host/files")
            try host.startPrometheus(scraping: ["127.0.0.1:9100"])
            try set(errors: "0", on: host)

            // All is well: the step comes on its day.
            try host.set(try order(in: 3, on: host), down: "t-web")
            try host.set(Host.open, up: "t-web")

            // The steps before have done harm: this one is held, and its unit runs on. The last answer counts for five
            // seconds.
            try set(errors: "0.2", on: host)
            try host.set(try order(in: 6, on: host))
            try host.wait(for: "awaiting-guard", in: "shop/state.json")
            #expect(try host.property("ActiveState", of: "t-web") == "active")
            #expect(
                try host.control("status --check").expect(1).output.contains(
                    "guard 'errors' holds the step by which source 'shop' closes this host: its query "
                        + "gives no sample"))
            try host.wait(forEntry: "its query gives no sample")
            try host.wait(forSample: "killswitch_step_held{guard=\"errors\"} == 1")

            try host.run("killswitchctl confirm shop")
            try host.awaitDown("t-web")
            try host.wait(for: "\"flags\"", in: "shop/state.json")

            // It is held again, and comes by itself once the fleet is well.
            try host.set(Host.open, up: "t-web")
            try host.set(try order(in: 0, on: host))
            try host.wait(for: "awaiting-guard", in: "shop/state.json")
            try set(errors: "0.001", on: host)
            try host.awaitDown("t-web")
        }
    }
}
