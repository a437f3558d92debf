import JSON
import Storage
import Support
import Testing

extension OnSystemd {
    /// The bus lets every user send a signal to one connection: see `SignalSender`. The daemon once believed whatever
    /// anybody said in systemd's name. With the policy of the package such a signal does not come to the daemon;
    /// without it the daemon drops the signal.
    @Suite struct ForgedSignalTests {
        private static let policy = "/usr/share/dbus-1/system.d/killswitchd.conf"

        /// Runs `body` on a host, with or without the policy of the package.
        private func withHost(
            hasPolicy: Bool, _ configuration: String = Host.shop, flags: String? = Host.open,
            _ body: (Host) throws -> Void
        ) throws {
            let host = try Host(configuration, flags: flags)
            let script = "\(Programs.project)/Tests/System/Gates/forge"
            try host.system.copy(script, to: "/run/t-forge")
            guard !hasPolicy else { return try body(host) }
            try host.run("mv \(Self.policy) /run/killswitchd.conf; systemctl reload dbus")
            try host.undoing("mv /run/killswitchd.conf \(Self.policy); systemctl reload dbus") {
                try body(host)
            }
        }

        /// The command with which `nobody` sends these signals to a process, for so many seconds.
        private func forgery(_ process: String, _ signals: String, seconds: Double = 0) -> String {
            "setpriv --reuid nobody --regid nogroup --clear-groups "
                + "python3 -B /run/t-forge/forge \(process) \(seconds) \(signals)"
        }

        private func forge(_ signals: String, on host: Host) throws {
            try host.run(forgery(try host.property("MainPID"), signals))
        }

        /// Waits until the daemon has read all that came to it before.
        private func settle(_ host: Host) throws { try host.run("killswitchctl refresh shop") }

        @Test(arguments: [true, false])
        func noUnitIsDownWhileItsProcessLives(_ hasPolicy: Bool) throws {
            try withHost(hasPolicy: hasPolicy) { host in
                try host.deafService(limit: "60s")
                try host.startUnits("t-deaf")
                try host.set(Host.ended)
                try host.wait(until: "killswitchctl status shop | grep -q 'closing 0/1'")
                let signals = """
                    changed t-deaf.service inactive changed killswitch-open@shop.target inactive \
                    changed killswitch-closed@shop.target active \
                    changed killswitch-ended@shop.target active
                    """
                let process = try host.property("MainPID")
                try host.run(forgery(process, signals, seconds: 8) + " > /run/t-sent &")
                let result = try host.control("wait shop --for down --timeout 4s")
                #expect(result.status == 124, "\(result)")
                #expect(try host.property("ActiveState", of: "t-deaf") == "deactivating")
                #expect(
                    try host.json("cat /run/killswitchd/shop/gate.json").object?["actual"]
                        == "closing")
                try host.run("systemctl kill --signal KILL t-deaf")
                try host.run("killswitchctl wait shop --for down --timeout 30s")
            }
        }

        @Test(arguments: [true, false])
        func noUnitIsUpWhileItStarts(_ hasPolicy: Bool) throws {
            try withHost(hasPolicy: hasPolicy, flags: Host.ended) { host in
                try host.unit(
                    "t-late.service",
                    """
                    [Service]
                    ExecStartPre=/bin/sh -c "until test -e /run/t-go; do sleep 0.1; done"
                    ExecStart=/bin/sleep infinity
                    """)
                try host.start(attaching: "t-late")
                try host.set(Host.open)
                try host.wait(
                    until: "systemctl show t-late -P ActiveState | grep -qx activating")
                let signals = "changed t-late.service active"
                let process = try host.property("MainPID")
                try host.run(forgery(process, signals, seconds: 5) + " > /run/t-sent &")
                let result = try host.control("wait shop --for up --timeout 3s")
                #expect(result.status == 124, "\(result)")
                #expect(try host.property("ActiveState", of: "t-late") == "activating")
                try host.letGo()
                try host.run("killswitchctl wait shop --for up --timeout 60s")
            }
        }

        /// A start of the open target would bring it back.
        @Test(arguments: [true, false])
        func aUnitThatTheAdministratorStoppedStaysStopped(_ hasPolicy: Bool) throws {
            try withHost(hasPolicy: hasPolicy) { host in
                try host.services("t-web")
                try host.startUnits("t-web")
                try host.run("killswitchctl wait shop --for up --timeout 1m; systemctl stop t-web")
                try forge("changed killswitch-open@shop.target inactive", on: host)
                try settle(host)
                try host.run("sleep 1")
                #expect(try host.property("ActiveState", of: "t-web") == "inactive")
                #expect(try host.sentences(of: .gateMovedElsewhere).isEmpty)
            }
        }

        @Test(arguments: [true, false])
        func noStartCountsAsRefused(_ hasPolicy: Bool) throws {
            try withHost(hasPolicy: hasPolicy, flags: Host.ended) { host in
                try host.services("t-web")
                try host.start(attaching: "t-web")
                try host.run("killswitchctl wait shop --for down --timeout 1m")
                try forge("job 9999 t-web.service assert", on: host)
                try settle(host)
                #expect(try host.row("t-web.service")?["refused_starts"] == 0)
                // A real one.
                #expect(try host.system.attempt("systemctl start t-web").status != 0)
                try host.wait(for: "\"refused_starts\": 1", in: "shop/units.json")
            }
        }

        /// A reload, and a systemd that is new on the bus, have the daemon ask systemd much.
        @Test(arguments: [true, false])
        func systemdIsAskedNothing(_ hasPolicy: Bool) throws {
            try withHost(hasPolicy: hasPolicy) { host in
                try host.services("t-web")
                try host.startUnits("t-web")
                try host.run("killswitchctl wait shop --for up --timeout 1m")
                let process = try host.property("MainPID")
                let names = try host.run(
                    "busctl list --unique --no-legend | awk '$2 == \(process) { print $1 }'"
                ).split(separator: "\n")
                try host.run(
                    "systemd-run --quiet --unit t-monitor --property StandardOutput=file:/run/t-calls "
                        + "stdbuf -oL dbus-monitor --system \"type='method_call'\"")
                try host.wait(until: "test -s /run/t-calls")
                let calls = names.map { "grep -c 'method call.*sender=\($0) ' /run/t-calls" }
                    .joined(separator: "; ")
                // What it asks for because of its own start is over.
                try host.wait(until: "a=$(\(calls)); sleep 2; test \"$a\" = \"$(\(calls))\"")
                let before = try host.system.attempt(calls).output
                try forge("reloaded owner org.freedesktop.systemd1", on: host)
                try settle(host)
                try host.run("sleep 1")
                #expect(try host.system.attempt(calls).output == before)
                try host.run("systemctl daemon-reload")
                try host.wait(until: "test \"$(\(calls))\" != '\(before.dropLast())'")
            }
        }

        /// With 70 services one rule of the bus is for all units, and targets of any name came in.
        @Test(arguments: [true, false])
        func targetsOfServicesThatNobodyHasConfiguredFillNoMemory(_ hasPolicy: Bool) throws {
            let services = (0..<70).map { Host.service("t-s\($0)") }.joined()
            try withHost(hasPolicy: hasPolicy, Host.shop + services) { host in
                for number in 0..<70 { try host.set(Host.open, of: "t-s\(number)") }
                try host.start()
                try host.awaitUp("killswitch-open@shop.target")
                try settle(host)
                let size = "ps -o rss= -p \(try host.property("MainPID"))"
                let before = try #require(Int(host.run(size).filter(\.isNumber)))
                try forge("flood 50000", on: host)
                try settle(host)
                let after = try #require(Int(host.run(size).filter(\.isNumber)))
                print("memory of the daemon: \(before) KB, \(after) KB after the flood")
                #expect(after < before + 4096)
            }
        }

        /// The commands of root have no policy.
        @Test func aCommandOfRootWaitsForTheRealEndOfItsJob() throws {
            try withHost(hasPolicy: true, flags: Host.ended) { host in
                try host.start()
                try host.awaitUp("killswitch-closed@shop.target")
                try host.run("systemctl stop killswitchd")
                try host.unit(
                    "t-before.service",
                    """
                    [Service]
                    Type=oneshot
                    ExecStart=/bin/sh -c "until test -e /run/t-go; do sleep 0.1; done"
                    """)
                try host.unit(
                    "killswitch-open@shop.target.d/t.conf",
                    "[Unit]\nWants=t-before.service\nAfter=t-before.service\n")
                let target = "killswitch-open@shop.target"
                try host.run(
                    """
                    systemctl daemon-reload
                    systemd-run --quiet --unit t-unlock --property StandardOutput=file:/run/t-unlocked \
                    --property RemainAfterExit=yes --property SyslogIdentifier=t-unlock \
                    killswitchctl open --without-daemon --json shop
                    """)
                try host.wait(until: "systemctl list-jobs | grep -q ' \(target) '")
                let job = try host.run(
                    "systemctl list-jobs | awk '$2 == \"\(target)\" { print $1 }'"
                )
                .filter(\.isNumber)
                let process = try host.property("MainPID", of: "t-unlock")
                try host.run(forgery(process, "job \(job) \(target) failed", seconds: 2))
                #expect(try host.property("ActiveState", of: "t-before") == "activating")
                #expect(try host.run("cat /run/t-unlocked") == "")
                try host.letGo()
                try host.wait(until: "grep -q '\"result\": \"done\"' /run/t-unlocked")
                #expect(try host.property("ActiveState", of: "t-before") == "inactive")
            }
        }
    }
}
