import Storage
import Support
import Testing

extension OnSystemd {
    /// An attached unit hangs in its stop. systemd lets a start wait for every ordered stop: the daemon was ordered
    /// before the gates, so that it stayed dead once it was killed, and a reload waited without an end.
    @Suite(.serialized)
    struct HungStopTests {
        /// A unit that ignores SIGTERM, and has no limit for its stop.
        static let unit = """
            [Service]
            ExecStart=/bin/sh -c 'trap "" TERM; exec sleep infinity'
            TimeoutStopSec=infinity
            """
        /// Ends every such unit.
        static let release = "systemctl kill --signal KILL 't-hung*' 2>/dev/null || true"

        @Test func theDaemonIsKilledReloadedAndRestartedAndCarriesOutOtherOrders() throws {
            let host = try Host(Host.shop + Host.service("mail"))
            defer { do { try host.run(Self.release) } catch {} }
            try host.set(Host.open, of: "mail")
            try host.services("t-web", "t-mail")
            try host.unit("t-hung.service", Self.unit)
            try host.start(attaching: "t-web t-hung")
            try host.run("killswitchctl attach mail t-mail; systemctl start t-web t-hung t-mail")
            for side in ["Before", "After"] {
                let ordered = try host.property(side, of: "killswitchd")
                #expect(
                    !ordered.contains("killswitch-") && !ordered.contains(" t-"),
                    "\(side)=\(ordered)")
            }
            try host.set(Host.ended, down: "t-web")
            let isHung = "systemctl show t-hung -P ActiveState | grep -qx deactivating"
            try host.wait(until: isHung)

            try host.run("systemctl kill --signal KILL killswitchd; date +%s%N > /run/t-killed")
            try host.set(Host.ended, of: "mail", down: "t-mail")
            let took = try host.run("echo $((($(date +%s%N) - $(cat /run/t-killed)) / 1000000))")
            print("from the kill of the daemon to the stop of a unit: \(took.dropLast()) ms")
            try host.awaitUp("killswitch-closed@mail.target")

            for verb in ["reload", "restart"] {
                let took = try host.run(
                    """
                    start=$(date +%s%N)
                    timeout 60 systemctl \(verb) killswitchd
                    echo $((($(date +%s%N) - start) / 1000000))
                    """)
                print("\(verb): \(took.dropLast()) ms")
            }
            try host.set(Host.open, of: "mail", up: "t-mail")
            try host.run(isHung)
            // Its stop would wait for the unit, and the daemon for that stop.
            #expect(
                try host.system.attempt("systemctl stop killswitchd-decided.target").status != 0)
            try host.run(Self.release)
            try host.awaitUp("killswitch-closed@shop.target")
            try host.awaitDown("t-hung")
        }
    }
}
