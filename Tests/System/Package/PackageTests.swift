import Support
import Testing

extension Packaged {
    /// The Debian package, from installation to purge. Each test begins without it.
    @Suite struct PackageTests {
        /// What units keep over an upgrade: their invocation, and the time of their last change of state.
        static func life(of units: String) -> String {
            "systemctl show \(units) -p Id,ActiveState,InvocationID,StateChangeTimestampMonotonic"
        }

        @Test func aFreshInstallationWaitsForAServiceAndSaysSo() throws {
            let host = try PackageHost()
            let printed = try host.install()
            #expect(printed.contains("killswitchd: killswitchd is not started yet"))
            #expect(printed.contains("no service is configured"))
            #expect(printed.contains("systemctl enable --now killswitchd"))
            #expect(try host.succeeds("systemctl is-active killswitchd") == false)
            #expect(try host.succeeds("systemctl is-enabled killswitchd") == false)
            #expect(try host.run("id -nG killswitchd") == "killswitchd\n")
            #expect(try host.run("stat -c %U /run/killswitchd") == "killswitchd\n")
            try host.configure()
            try host.run("systemctl enable --now killswitchd")
            #expect(try host.run("killswitchctl get shop state") == "running\n")
            try host.system.wait(until: "systemctl is-active killswitch-open@shop.target")
            #expect(try host.run("man -w killswitchd.toml").contains("man5"))
        }

        /// The process tests run the same bytes that the package installs.
        @Test func theInstalledProgramsAreTheTestedOnes() throws {
            let host = try PackageHost()
            try host.install()
            for (name, place) in [("killswitchd", "sbin"), ("killswitchctl", "bin")] {
                try host.system.copy(try Programs.path(of: name), to: PackageHost.folder)
                try host.run("cmp \(PackageHost.folder)/\(name) /usr/\(place)/\(name)")
            }
        }

        @Test func withAConfigurationTheInstallationStartsAndEnablesTheDaemon() throws {
            let host = try PackageHost()
            try host.configure()
            #expect(try !host.install().contains("killswitchd: "))
            #expect(try host.run("killswitchctl get shop state") == "running\n")
            try host.run("systemctl is-enabled killswitchd")
        }

        /// It must not be an alarm while the package is installed or upgraded.
        @Test func theAlarmIsEnabledAndQuiet() throws {
            let host = try PackageHost.installed(.previous)
            try host.unit("t-web")
            try host.run("killswitchctl attach shop t-web")
            try host.install(.current)
            try host.run("systemctl is-enabled killswitchd-alarm.service killswitchd-alarm.timer")
            try host.run("systemctl is-active killswitchd-alarm.timer")
            try host.run("systemctl start killswitchd-alarm")
            #expect(try host.succeeds("systemctl is-failed killswitchd-alarm") == false)
        }

        /// The bus reads the policy when the files are unpacked, before the user is there.
        @Test(arguments: [("killswitchd", false), ("daemon", true)])
        func theBusKeepsSignalsOfOthersFromTheUserOfTheDaemon(
            _ user: String, _ isReached: Bool
        ) throws {
            let host = try PackageHost.installed()
            try host.system.copy(
                "\(Programs.project)/Tests/System/Gates/forge", to: PackageHost.folder)
            try host.run(
                "systemd-run --quiet --unit t-listener --uid \(user) --property "
                    + "StandardOutput=truncate:/run/t-heard stdbuf -oL dbus-monitor --system")
            try host.system.wait(until: "grep -q member=NameAcquired /run/t-heard")
            try host.run(
                """
                setpriv --reuid nobody --regid nogroup --clear-groups python3 -B \
                \(PackageHost.folder)/forge $(systemctl show t-listener -P MainPID) 0 reloaded
                """)
            if isReached { try host.system.wait(until: "grep -q member=Reloading /run/t-heard") }
            try host.run("sleep 1; systemctl stop t-listener")
            #expect(try host.succeeds("grep -q member=Reloading /run/t-heard") == isReached)
        }

        @Test func aMaskedUnitIsInstalledAndNotStarted() throws {
            let host = try PackageHost()
            try host.configure()
            try host.run("systemctl mask killswitchd")
            try host.install()
            #expect(try host.succeeds("systemctl is-active killswitchd") == false)
            try host.run("systemctl unmask killswitchd; systemctl enable --now killswitchd")
        }

        @Test(arguments: ["running", "ended"])
        func anUpgradeTouchesNoGateAndNoUnit(_ state: String) throws {
            let host = try PackageHost.installed(.previous, state: state)
            try host.unit("t-web")
            try host.run("systemctl start t-web || true; killswitchctl attach shop t-web")
            let isOpen = state == "running"
            try host.system.wait(
                until: "systemctl is-active t-web | grep -qx \(isOpen ? "active" : "inactive")")
            let units = "t-web 'killswitch-*@shop.target'"
            let before = try host.run(Self.life(of: units))
            let daemon = try host.run("systemctl show killswitchd -P MainPID")
            try host.install(.current)
            let installed = try host.run("dpkg-query -W -f '${Version}' killswitchd")
            #expect(try installed == Programs.packageVersion())
            #expect(try host.run("systemctl show killswitchd -P MainPID") != daemon)
            #expect(try host.run("killswitchctl get shop state") == "\(state)\n")
            #expect(try host.run(Self.life(of: units)) == before)
            #expect(try host.succeeds("systemctl start t-web") == isOpen)
        }

        /// Those of the version before had `Requisite=` and a link, also while the gate is closed.
        @Test(arguments: ["running", "ended"])
        func anUpgradeRenewsTheDropInsOfAttachedUnits(_ state: String) throws {
            let host = try PackageHost.installed(.previous, state: state)
            for name in ["t-web", "t-own"] { try host.unit(name) }
            try host.run(
                "killswitchctl attach shop t-web t-own; systemctl start t-web t-own || true")
            let file = { (unit: String) in
                "/etc/systemd/system/\(unit).service.d/50-killswitch-shop.conf"
            }
            for unit in ["t-web", "t-own"] { try host.run(VersionBefore.attach(unit)) }
            try host.run("echo '# mine' >> \(file("t-own")); systemctl daemon-reload")
            let before = try host.run(Self.life(of: "t-web t-own"))
            let printed = try host.install(.current)
            #expect(printed.contains("renewed \(file("t-web"))"), "\(printed)")
            #expect(
                printed.contains(
                    "'\(file("t-own"))' is not as attach writes it, and is left unchanged"))
            #expect(try host.run(Self.life(of: "t-web t-own")) == before)
            #expect(
                try host.system.assertions(of: "t-web").contains("\"/run/killswitchd/shop/open\""))
            #expect(
                try host.system.assertions(of: "t-own").contains("\"/run/killswitchd/shop/closed\"")
            )
            #expect(
                try !host.succeeds(
                    "test -L /etc/systemd/system/killswitch-open@shop.target.wants/t-web.service"))
            // Both follow their gate.
            try host.configure("ended")
            try host.system.wait(until: "! systemctl is-active t-web t-own")
            #expect(try host.run("systemctl start t-web t-own; echo $?") != "0\n")
            try host.configure("running")
            try host.system.wait(until: "systemctl is-active t-web && systemctl is-active t-own")
        }

        /// The gates of an earlier version were ordered after the daemon, so that its restart waited for the unit.
        @Test func anUpgradeEndsWhileAUnitHangsInItsStop() throws {
            let host = try PackageHost()
            let hung = OnSystemd.HungStopTests.self
            defer { do { try host.run(hung.release) } catch {} }
            try host.configure()
            try host.configure(service: "mail")
            try host.install(.previous)
            try host.run(
                """
                cd /lib/systemd/system
                sed -i 's/killswitchd-decided.target/killswitchd.service/' killswitch-*.target
                sed -i '/^Wants=killswitchd-decided/d' killswitchd.service
                rm killswitchd-decided.target
                systemctl daemon-reload
                systemctl stop killswitchd-decided.target
                """)
            try host.system.write(hung.unit, to: "/etc/systemd/system/t-hung.service")
            for name in ["t-web", "t-mail"] { try host.unit(name) }
            try host.run("killswitchctl attach shop t-web t-hung; killswitchctl attach mail t-mail")
            try host.run("systemctl start t-web t-hung t-mail")
            try host.configure("ended")
            try host.system.wait(until: "! systemctl is-active t-web")
            let isHung = "systemctl show t-hung -P ActiveState | grep -qx deactivating"
            try host.system.wait(until: isHung)
            #expect(try !host.succeeds("timeout 3 systemctl restart killswitchd"))

            try host.install(.current)
            try host.run("systemctl is-active killswitchd killswitchd-decided.target")
            try host.configure("ended", service: "mail")
            try host.system.wait(until: "! systemctl is-active t-mail")
            try host.system.wait(until: "systemctl is-active killswitch-closed@mail.target")
            try host.reinstall()
            try host.run("killswitchctl refresh")
            try host.run(isHung)
            try host.run(hung.release)
            try host.system.wait(until: "systemctl is-active killswitch-closed@shop.target")
        }

        @Test func anUpgradeWithABrokenConfigurationLeavesTheRunningDaemonAlone() throws {
            let host = try PackageHost.installed(.previous)
            let daemon = try host.run("systemctl show killswitchd -P MainPID")
            try host.system.write("[service.shop]\nformt = 1\n", to: PackageHost.dropIn)
            let printed = try host.install(.current)
            #expect(printed.contains("configuration refused; the old daemon keeps running"))
            #expect(printed.contains("\(PackageHost.dropIn):2:1"))
            #expect(try host.run("systemctl show killswitchd -P MainPID") == daemon)
            #expect(try host.run("killswitchctl get shop state") == "running\n")
        }

        @Test func anUpgradeStartsNothingThatTheAdministratorHasStopped() throws {
            let host = try PackageHost.installed(.previous)
            try host.run("systemctl disable --now killswitchd")
            try host.install(.current)
            #expect(try host.succeeds("systemctl is-active killswitchd") == false)
            #expect(try host.succeeds("systemctl is-enabled killswitchd") == false)
        }

        @Test func theFiveMinutesOfTheReadmeWorkLineByLine() throws {
            let host = try PackageHost()
            try host.followReadme("Five minutes on a server")
        }

        @Test func theFiveCommandsOfTheReadmeCloseAService() throws {
            let host = try PackageHost()
            try host.unit("shop")
            try host.run("systemctl start shop")
            try host.followReadme("Close something in five commands")
        }
    }
}

extension PackageHost {
    /// Types a section of the README.
    fileprivate func followReadme(_ section: String) throws {
        for file in ["README.md", "Tests/System/walk-through"] {
            try system.copy("\(Programs.project)/\(file)", to: PackageHost.folder)
        }
        try system.attempt(
            "cd \(PackageHost.folder) && python3 walk-through README.md '## \(section)'"
        ).expect(0, output: "$ sudo apt-get install ./build/killswitchd_")
    }
}
