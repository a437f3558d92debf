import Files
import Support
import Testing

extension Packaged {
    /// What the removal and the purge of the package leave. Each test begins without it.
    @Suite struct PackageRemovalTests {
        @Test func aRemovalDetachesEveryUnitAndNamesThem() throws {
            let host = try PackageHost.installed()
            for name in ["t-web", "t-app", "t-own"] { try host.unit(name) }
            try host.system.write(
                "[Unit]\nRequisite=killswitch-open@shop.target\n",
                to: "/etc/systemd/system/t-own.service.d/mine.conf")
            try host.run("systemctl add-wants killswitch-open@shop.target t-own")
            try host.run("killswitchctl attach shop t-web t-app")
            try host.run("systemctl start t-web t-own; killswitchctl refresh")
            try host.configure("ended")
            try host.system.wait(until: "! systemctl is-active t-web t-own")
            try startWebServer(on: host)
            let request = "curl --silent --fail http://127.0.0.1:8000/"
            #expect(try !host.succeeds(request))
            let printed = try host.run("apt-get remove --yes killswitchd 2>&1")
            // The snippet stays, and says closed no more.
            #expect(try host.run(request) == "shop")
            try host.run("/usr/sbin/nginx -t -c /run/t-front.conf; systemctl reload t-front")
            #expect(try host.run(request) == "shop")
            #expect(try !host.succeeds("test -e /run/killswitchd"))
            for name in ["t-web", "t-app"] {
                #expect(
                    printed.contains("detached \(name).service from killswitch-open@shop.target"))
                let start = "systemctl start \(name).service"
                let line =
                    "\(name).service is down, because 'shop' is closed; to start it: \(start)"
                #expect(printed.contains(line), "\(printed)")
                try host.run(start)
            }
            #expect(
                printed.contains(
                    "'t-own.service' stays attached to 'shop': killswitchctl did not write"))
            #expect(try host.succeeds("ls /etc/systemd/system/t-web.service.d") == false)
            #expect(try host.succeeds("systemctl is-active killswitchd") == false)
            // Configuration and state stay for a later installation.
            try host.run("test -e \(PackageHost.dropIn) -a -e /var/lib/killswitchd")
            try host.install()
            #expect(try host.run("killswitchctl get shop state") == "ended\n")
            try host.run("systemctl is-enabled killswitchd")
            // The configuration lists them still.
            try host.system.wait(until: "! systemctl is-active t-web t-app")
        }

        /// A real nginx with the snippet of the package, before a back-end, as t-front.
        private func startWebServer(on host: PackageHost) throws {
            try host.system.write(
                """
                pid /run/t-front.pid;
                events {}
                http {
                    access_log off;
                    server { listen 127.0.0.1:8080; location / { return 200 'shop'; } }
                    server {
                        listen 127.0.0.1:8000;
                        set $killswitch_service shop;
                        set $killswitch_health "";
                        include /etc/killswitchd/web/nginx.conf;
                        location / { proxy_pass http://127.0.0.1:8080; }
                    }
                }
                """, to: "/run/t-front.conf")
            try host.system.write(
                """
                [Service]
                ExecStart=/usr/sbin/nginx -c /run/t-front.conf -e /run/t-front.log -g 'daemon off;'
                ExecReload=/bin/kill -HUP $MAINPID
                KillSignal=SIGQUIT
                """, to: "/etc/systemd/system/t-front.service")
            try host.run("systemctl daemon-reload; systemctl start t-front")
            try host.system.wait(until: "curl --silent http://127.0.0.1:8080/")
        }

        /// pam_motd(8) shows the files of the folder to people who log in.
        @Test func theMessageOfTheDayComesAndGoesWithThePackage() throws {
            let host = try PackageHost.installed(state: "maintenance")
            try host.system.wait(
                until: "grep -q 'shop is closed (maintenance) since' /run/motd.d/killswitchd")
            try host.run("useradd --no-create-home --shell /bin/true t-operator")
            let login = try host.run(
                """
                \(BootedSystem.login)
                systemctl stop user@$(id -u t-operator)
                userdel --force t-operator
                rm -f /run/motd.dynamic
                """)
            #expect(login.contains("shop is closed (maintenance) since"), "\(login)")
            try host.run("apt-get remove --yes killswitchd")
            #expect(try host.succeeds("test -e /run/motd.d/killswitchd") == false)
        }

        @Test func aPurgeLeavesNothing() throws {
            let host = try PackageHost()
            // The lists and caches of other packages change too, so do the stamps of timers, what logind removes some
            // seconds after the login of another test, and the private folders of services that end by themselves, as
            // systemd-timedated does.
            let everything = """
                { find /etc /run /usr /var -xdev \
                    -not -path '/var/log/*' -not -path '/var/cache/*' -not -path '/run/log/*' \
                    -not -path '/var/lib/dpkg/*' -not -path '/var/lib/apt/*' -not -path '/var/lib/PackageKit/*' \
                    -not -path '/var/backups/*' -not -path '/var/lib/systemd/timers/*' -not -path '/run/user*' \
                    -not -path '/var/tmp/systemd-private-*' \
                    -not -path '/run/systemd/*' -not -path '/run/sudo*' -not -path '*/__pycache__*';
                getent passwd; getent group; } | grep -v -- '-$' | sort
                """
            // Where another test has left it empty, dpkg's helper would remove it.
            try host.run(
                "find /etc/systemd/system -maxdepth 1 -name '*.target.wants' -empty -delete")
            let before = try host.run(everything)
            try host.configure()
            try host.install()
            try host.unit("t-web")
            try host.run("killswitchctl attach shop t-web; killswitchctl refresh")
            try host.run("usermod -aG killswitchd nobody")
            try host.run("apt-get purge --yes killswitchd")
            try host.run("rm /etc/systemd/system/t-web.service")
            let after = try host.run(everything)
            let difference = Set(after.split(separator: "\n"))
                .symmetricDifference(before.split(separator: "\n"))
            #expect(difference == [])
            try host.install()
        }

        /// As in an image that is being built: systemd does not run, and its files have to be right.
        @Test func withoutASystemdUnitsAreDetachedAllTheSame() throws {
            let host = try PackageHost.installed()
            try host.unit("t-web")
            try host.run("killswitchctl attach shop t-web")
            let printed = try host.run(
                "unshare --mount sh -c 'mount -t tmpfs tmpfs /run; killswitchctl detach --all'")
            #expect(printed.contains("detached t-web.service"))
            #expect(try host.succeeds("ls /etc/systemd/system/t-web.service.d") == false)
        }
    }
}

/// The host of an administrator who installs the package: a booted system without the programs.
struct PackageHost: Shell {
    let system: BootedSystem

    /// The package of this version or of an older one.
    enum Build {
        case previous, current
    }

    /// The folder inside that holds the packages, in `build` as in the project.
    static let folder = "/srv/t-package"
    static let dropIn = "/etc/killswitchd/conf.d/shop.toml"

    /// Removes everything of the test before.
    init() throws {
        system = try BootedSystem.ofTest()
        try run(
            """
            rm -rf \(Self.folder) /etc/killswitchd /run/killswitchd-attach
            systemctl kill --signal KILL 't-hung*' 2>/dev/null
            systemctl stop 't-*' 'shop*' 2>/dev/null
            if dpkg-query -W killswitchd >/dev/null 2>&1; then apt-get purge --yes killswitchd; fi
            systemctl stop 'killswitch-*' 2>/dev/null
            cd /etc/systemd/system && rm -rf t-* shop.service* killswitch* *.wants/t-* *.wants/shop*
            systemctl daemon-reload
            systemctl reset-failed
            """)
        try system.copy(
            "\(Programs.packages)/\(try package(.current))", to: "\(Self.folder)/build")
        try system.copy("\(Programs.packages)/\(try package(.previous))", to: Self.folder)
    }

    /// A host with a service in this state, on which the package was installed.
    static func installed(
        _ build: Build = .current, state: String = "running"
    ) throws -> PackageHost {
        let host = try PackageHost()
        try host.configure(state)
        try host.install(build)
        return host
    }

    private func package(_ build: Build) throws -> String {
        let version = build == .current ? try Programs.packageVersion() : "0.0."
        let packages = try Directory.list(Programs.packages)
        guard
            let found = packages.first(where: {
                $0.hasPrefix("killswitchd_\(version)") && $0.hasSuffix(".deb")
            })
        else {
            throw TestFailure(
                "find a package and an older one in '\(Programs.packages)': see .ci/test")
        }
        return found
    }

    @discardableResult func install(_ build: Build = .current) throws -> String {
        let path = build == .current ? "build/\(try package(build))" : try package(build)
        return try run("cd \(Self.folder) && apt-get install ./\(path) 2>&1")
    }

    func reinstall() throws {
        let path = "build/\(try package(.current))"
        try run("cd \(Self.folder) && apt-get install --reinstall ./\(path) 2>&1")
    }

    /// Writes a service with flags of this state.
    func configure(_ state: String = "running", service: String = "shop") throws {
        try system.write(#"{"state": "\#(state)"}"#, to: "/etc/killswitchd/\(service).json")
        try system.write(
            """
            [service.\(service)]
            source = "file:/etc/killswitchd/\(service).json"
            format = "switch"
            """, to: "/etc/killswitchd/conf.d/\(service).toml")
    }

    /// Makes a service that runs until it is stopped.
    func unit(_ name: String) throws {
        try system.write(
            "[Service]\nExecStart=/bin/sleep infinity\n",
            to: "/etc/systemd/system/\(name).service")
        try run("systemctl daemon-reload")
    }

    @discardableResult
    func run(_ command: String) throws -> String { try system.run(Self.asRoot(command)) }

    func succeeds(_ command: String) throws -> Bool {
        try system.attempt(Self.asRoot(command)).status == 0
    }

    /// The environment of an administrator's login shell.
    private static func asRoot(_ command: String) -> String {
        "export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root\n"
            + command
    }
}
