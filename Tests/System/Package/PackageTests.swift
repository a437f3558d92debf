import Support
import Testing

extension Packaged {
    /// The Debian package, from installation to purge. Each test begins without it.
    @Suite(.serialized)
    struct PackageTests {
        /// What units keep over an upgrade: their invocation, and the time of their last change of state.
        private static func life(of units: String) -> String {
            "systemctl show \(units) -p Id,ActiveState,InvocationID,StateChangeTimestampMonotonic"
        }

        @Test func aFreshInstallationWaitsForAServiceAndSaysSo() throws {
            let host = try PackageHost()
            let said = try host.install()
            #expect(said.contains("killswitchd: it is not started yet"))
            #expect(said.contains("no service is configured"))
            #expect(said.contains("systemctl enable --now killswitchd"))
            #expect(try host.succeeds("systemctl is-active killswitchd") == false)
            #expect(try host.succeeds("systemctl is-enabled killswitchd") == false)
            #expect(try host.run("id -nG killswitchd") == "killswitchd\n")
            #expect(try host.run("stat -c %U /run/killswitchd") == "killswitchd\n")
            try host.configure()
            try host.run("systemctl enable --now killswitchd")
            #expect(try host.run("killswitchctl get shop state") == "running\n")
            try host.run("systemctl is-active killswitch-open@shop.target")
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
            let host = try PackageHost()
            try host.configure()
            try host.install(.previous)
            try host.unit("t-web")
            try host.run("killswitchctl attach shop t-web")
            try host.install(.current)
            try host.run("systemctl is-enabled killswitchd-alarm.service killswitchd-alarm.timer")
            try host.run("systemctl is-active killswitchd-alarm.timer")
            try host.run("systemctl start killswitchd-alarm")
            #expect(try host.succeeds("systemctl is-failed killswitchd-alarm") == false)
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
            let host = try PackageHost()
            try host.configure(state)
            try host.install(.previous)
            try host.unit("t-web")
            try host.run("systemctl start t-web || true; killswitchctl attach shop t-web")
            let isOpen = state == "running"
            try host.system.wait(until: "\(isOpen ? "" : "! ")systemctl is-active t-web")
            let units = "t-web 'killswitch-*@shop.target'"
            let before = try host.run(Self.life(of: units))
            let daemon = try host.run("systemctl show killswitchd -P MainPID")
            try host.install(.current)
            let installed = try host.run("dpkg-query -W -f '${Version}' killswitchd")
            #expect(try installed == Programs.version())
            #expect(try host.run("systemctl show killswitchd -P MainPID") != daemon)
            #expect(try host.run("killswitchctl get shop state") == "\(state)\n")
            #expect(try host.run(Self.life(of: units)) == before)
            #expect(try host.succeeds("systemctl start t-web") == isOpen)
        }

        /// Units that an earlier version has attached could be started while another unit still stopped.
        @Test func anUpgradeRenewsTheDropInsOfAttachedUnitsWithOneReload() throws {
            let host = try PackageHost()
            try host.configure()
            try host.install(.previous)
            for name in ["t-web", "t-own"] { try host.unit(name) }
            try host.run("killswitchctl attach shop t-web t-own; systemctl start t-web t-own")
            let file = { (unit: String) in
                "/etc/systemd/system/\(unit).service.d/50-killswitch-shop.conf"
            }
            try host.run("sed -i '/^# No start/,$d' \(file("t-web")) \(file("t-own"))")
            try host.run("echo '# mine' >> \(file("t-own")); systemctl daemon-reload")
            let before = try host.run(Self.life(of: "t-web t-own"))
            let said = try host.install(.current)
            #expect(said.contains("renewed \(file("t-web"))"))
            #expect(said.contains("'\(file("t-own"))' is not as attach writes it, and stays so"))
            #expect(try host.run(Self.life(of: "t-web t-own")) == before)
            let marker = "\"/run/killswitchd/shop/closed\""
            #expect(try host.system.assertions(of: "t-web").contains(marker))
            #expect(try host.system.assertions(of: "t-own") == "a(sbbsi) 0\n")
        }

        @Test func anUpgradeWithABrokenConfigurationLeavesTheRunningDaemonAlone() throws {
            let host = try PackageHost()
            try host.configure()
            try host.install(.previous)
            let daemon = try host.run("systemctl show killswitchd -P MainPID")
            try host.system.write("[service.shop]\nformt = 1\n", to: PackageHost.dropIn)
            let said = try host.install(.current)
            #expect(said.contains("the running daemon was not restarted"))
            #expect(said.contains("\(PackageHost.dropIn):2:1"))
            #expect(try host.run("systemctl show killswitchd -P MainPID") == daemon)
            #expect(try host.run("killswitchctl get shop state") == "running\n")
        }

        @Test func anUpgradeStartsNothingThatTheAdministratorHasStopped() throws {
            let host = try PackageHost()
            try host.configure()
            try host.install(.previous)
            try host.run("systemctl disable --now killswitchd")
            try host.install(.current)
            #expect(try host.succeeds("systemctl is-active killswitchd") == false)
            #expect(try host.succeeds("systemctl is-enabled killswitchd") == false)
        }

        @Test func aRemovalDetachesEveryUnitAndNamesThem() throws {
            let host = try PackageHost()
            try host.configure()
            try host.install()
            for name in ["t-web", "t-app", "t-own"] { try host.unit(name) }
            try host.system.write(
                "[Unit]\nRequisite=killswitch-open@shop.target\n",
                to: "/etc/systemd/system/t-own.service.d/mine.conf")
            try host.run("systemctl add-wants killswitch-open@shop.target t-own")
            try host.run("killswitchctl attach shop t-web t-app")
            try host.run("systemctl start t-web t-own; killswitchctl refresh")
            try host.configure("ended")
            try host.system.wait(until: "! systemctl is-active t-web t-own")
            let said = try host.run("apt-get remove --yes killswitchd 2>&1")
            for name in ["t-web", "t-app"] {
                #expect(said.contains("detached \(name).service from killswitch-open@shop.target"))
                try host.run("systemctl start \(name)")
            }
            #expect(said.contains("'t-own.service' is attached to 'shop' by files of yours"))
            #expect(try host.succeeds("ls /etc/systemd/system/t-web.service.d") == false)
            #expect(try host.succeeds("systemctl is-active killswitchd") == false)
            // Configuration and state stay for a later installation.
            try host.run("test -e \(PackageHost.dropIn) -a -e /var/lib/killswitchd")
            let offer = try host.install()
            #expect(try host.run("killswitchctl get shop state") == "ended\n")
            try host.run("systemctl is-enabled killswitchd")
            #expect(offer.contains("shop t-app.service, shop t-web.service"), "\(offer)")
            #expect(offer.contains("'killswitchctl attach --remembered' attaches them again"))
            let again = try host.run("killswitchctl attach --remembered 2>&1")
            #expect(again.contains("attached t-web.service to killswitch-open@shop.target"))
            #expect(try host.succeeds("test -e /etc/killswitchd/detached-units") == false)
            try host.system.wait(until: "! systemctl is-active t-web t-app")
        }

        /// pam_motd(8) shows the files of the folder to people who log in.
        @Test func theMessageOfTheDayComesAndGoesWithThePackage() throws {
            let host = try PackageHost()
            try host.configure("maintenance")
            try host.install()
            try host.system.wait(
                until: "grep -q 'shop is closed (maintenance) since' /run/motd.d/killswitchd")
            try host.run("useradd --no-create-home --shell /bin/true t-operator")
            let login = try host.run(
                """
                script --quiet --return --command 'login -f t-operator' /dev/null </dev/null
                systemctl stop user@$(id -u t-operator)
                userdel --force t-operator
                rm -f /run/motd.dynamic
                """)
            #expect(login.contains("shop is closed (maintenance) since"), "\(login)")
            try host.run("apt-get remove --yes killswitchd")
            #expect(try host.succeeds("test -L /run/motd.d/killswitchd") == false)
        }

        @Test func aPurgeLeavesNothing() throws {
            let host = try PackageHost()
            // The lists and caches of other packages change too.
            let everything = """
                { find /etc /run /usr /var -xdev \
                    -not -path '/var/log/*' -not -path '/var/cache/*' -not -path '/run/log/*' \
                    -not -path '/var/lib/dpkg/*' -not -path '/var/lib/apt/*' \
                    -not -path '/run/systemd/*' -not -path '/run/sudo*' -not -path '*/__pycache__*';
                getent passwd; getent group; } | grep -v -- '-$' | sort
                """
            let before = try host.run(everything)
            try host.configure()
            try host.install()
            try host.unit("t-web")
            try host.run("killswitchctl attach shop t-web; killswitchctl refresh")
            try host.run("usermod -aG killswitchd nobody")
            try host.run("apt-get purge --yes killswitchd")
            try host.run("rm /etc/systemd/system/t-web.service")
            #expect(try host.run(everything) == before)
            try host.install()
        }

        /// As in an image that is being built: systemd does not run, and its files have to be right.
        @Test func withoutASystemdUnitsAreDetachedAllTheSame() throws {
            let host = try PackageHost()
            try host.configure()
            try host.install()
            try host.unit("t-web")
            try host.run("killswitchctl attach shop t-web")
            let said = try host.run(
                "unshare --mount sh -c 'mount -t tmpfs tmpfs /run; killswitchctl detach --all'")
            #expect(said.contains("detached t-web.service"))
            #expect(try host.succeeds("ls /etc/systemd/system/t-web.service.d") == false)
        }

        @Test func theFiveMinutesOfTheReadmeWorkLineByLine() throws {
            let host = try PackageHost()
            for file in ["README.md", "Tests/System/walk-through"] {
                try host.system.copy("\(Programs.project)/\(file)", to: PackageHost.folder)
            }
            let walk = try host.system.attempt(
                "cd \(PackageHost.folder) && "
                    + "python3 walk-through README.md '## Five minutes on a server'")
            #expect(walk.status == 0, "\(walk.output)\(walk.errors)")
            #expect(walk.output.contains("$ sudo apt-get install ./build/killswitchd_"))
        }
    }
}
