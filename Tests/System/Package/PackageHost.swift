import Files
import Support

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
        system = try BootedSystem.ofSuite()
        try run(
            """
            rm -rf \(Self.folder) /etc/killswitchd
            systemctl kill --signal KILL 't-hung*' 2>/dev/null
            systemctl stop 't-*' 'shop*' 2>/dev/null
            if dpkg-query -W killswitchd >/dev/null 2>&1; then apt-get purge --yes killswitchd; fi
            systemctl stop 'killswitch-*' 2>/dev/null
            cd /etc/systemd/system && rm -rf t-* shop.service* killswitch* *.wants/t-* *.wants/shop*
            systemctl daemon-reload
            systemctl reset-failed
            """)
        try system.copy(
            "\(Programs.project)/build/\(try package(.current))", to: "\(Self.folder)/build")
        try system.copy("\(Programs.project)/build/\(try package(.previous))", to: Self.folder)
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
        let packages = try Directory.list("\(Programs.project)/build").filter {
            $0.hasSuffix(".deb")
        }
        let found = packages.filter { $0.hasPrefix("killswitchd_0.0.") == (build == .previous) }
        guard packages.count == 2, let package = found.first else {
            throw TestFailure("find a package and an older one in 'build': see .ci/test")
        }
        return package
    }

    /// Installs the package; returns the output.
    @discardableResult
    func install(_ build: Build = .current) throws -> String {
        let path = build == .current ? "build/\(try package(build))" : try package(build)
        return try run("cd \(Self.folder) && apt-get install ./\(path) 2>&1")
    }

    /// Installs the same package once more.
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
