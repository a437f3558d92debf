import JSON
import Storage
import Support

/// A host on which a test runs commands.
protocol Shell {
    @discardableResult
    func run(_ command: String) throws -> String
}

extension Shell {
    /// Runs `body`, and then a command that undoes what a reset of the system leaves.
    func undoing(_ command: String, _ body: () throws -> Void) throws {
        let result = Result { try body() }
        try run(command)
        try result.get()
    }
}

/// A host with the installed daemon, a configuration, and units to attach. Each test makes its own,
/// which resets the booted system.
struct Host: Shell {
    let system: BootedSystem
    /// When the test began, in seconds since 1970, by the clock of the booted system.
    let start: String

    /// The default configuration is the service `shop`; the default system is the one of the test.
    init(
        _ configuration: String = Host.shop, flags: String? = Host.open,
        on system: BootedSystem? = nil
    ) throws {
        self.system = try system ?? BootedSystem.ofTest()
        try self.system.reset()
        start = String(try self.system.run("date +%s.%N").dropLast())
        try configure(configuration)
        if let flags { try self.set(flags) }
    }

    /// A host with these services, which are attached to the shop and run.
    static func running(_ names: String...) throws -> Host {
        let host = try having(names)
        try host.startUnits(names.joined(separator: " "))
        return host
    }

    /// A host with these services, which are attached to the shop.
    static func attached(_ names: String...) throws -> Host {
        let host = try having(names)
        try host.start(attaching: names.joined(separator: " "))
        return host
    }

    static func having(_ names: String...) throws -> Host { try having(names) }

    private static func having(_ names: [String]) throws -> Host {
        let host = try Host()
        try host.services(names)
        return host
    }

    static let shop = service("shop")
    /// A service that follows `/etc/killswitchd/NAME.json`, and reopens at once.
    static func service(_ name: String, _ more: String = "") -> String {
        """
        [service.\(name)]
        source = "file:/etc/killswitchd/\(name).json"
        format = "switch"
        min_closed = "0s"
        \(more)

        """
    }

    static let open = #"{"state": "running"}"#
    static let maintenance = #"{"state": "maintenance"}"#
    static let ended = #"{"state": "ended"}"#

    func configure(_ text: String) throws {
        try system.write(text, to: "/etc/killswitchd/killswitchd.toml")
    }

    /// Changes the flags of a service, and waits until these units are down and up.
    func set(_ flags: String, of service: String = "shop", up: String..., down: String...) throws {
        try system.write(flags, to: "/etc/killswitchd/\(service).json")
        for unit in down { try awaitDown(unit) }
        for unit in up { try awaitUp(unit) }
    }

    func unit(_ name: String, _ text: String) throws {
        try system.write(text, to: "/etc/systemd/system/\(name)")
    }

    /// Makes services that run until they are stopped.
    func services(_ names: String...) throws { try services(names) }

    private func services(_ names: [String]) throws {
        for name in names {
            try unit(
                "\(name).service",
                """
                [Service]
                ExecStart=/bin/sleep infinity
                [Install]
                WantedBy=multi-user.target
                """)
        }
    }

    /// Makes a service that ignores SIGTERM, and that systemd kills after this time.
    func deafService(_ name: String = "t-deaf", limit: String, _ more: String = "") throws {
        try unit(
            "\(name).service",
            """
            [Service]
            Type=notify
            NotifyAccess=all
            ExecStart=/bin/sh -c "trap '' TERM; systemd-notify --ready; exec sleep infinity"
            TimeoutStopSec=\(limit)
            \(more)
            """)
    }

    /// Makes a service that takes these seconds to stop.
    func slowService(_ name: String = "t-slow", seconds: Double) throws {
        try unit(
            "\(name).service",
            "[Service]\nExecStart=/bin/sleep infinity\nExecStop=/bin/sleep \(seconds)\n")
    }

    /// Makes a service whose stop takes until `letGo`.
    func heldService(_ name: String = "t-slow") throws {
        try unit(
            "\(name).service",
            """
            [Service]
            ExecStart=/bin/sleep infinity
            ExecStop=/bin/sh -c "until test -e /run/t-go; do sleep 0.05; done"
            TimeoutStopSec=10m
            """)
    }

    /// Lets each stop of a held service end, now and later.
    func letGo() throws { try run("touch /run/t-go") }

    /// Runs a command that may wait for the stop of a held service, which ends a second later.
    func lettingGo(_ command: String) throws -> Program.Result {
        try system.attempt("(sleep 1; touch /run/t-go) > /dev/null 2>&1 & \(command)")
    }

    /// Makes a service that requires `t-web.service`.
    func needyService() throws {
        try unit(
            "t-needy.service",
            "[Unit]\nRequires=t-web.service\n[Service]\nExecStart=/bin/sleep infinity")
    }

    /// Adds settings to the daemon's unit.
    func override(_ text: String) throws {
        try unit("killswitchd.service.d/test.conf", "[Service]\n\(text)\n")
        try run("systemctl daemon-reload")
    }

    /// Has the daemon preload a library, and adds settings to its unit.
    func preload(_ library: Preload, _ text: String = "") throws {
        try override("\(try system.install(library))\n\(text)")
    }

    /// The files that attach units, one a line.
    var attachmentFiles: String {
        get throws {
            try run("cd /etc/systemd/system && find . -path '*killswitch*' | sort")
        }
    }

    @discardableResult
    func run(_ command: String) throws -> String { try system.run(command) }

    /// Runs killswitchctl, and gives how it ended.
    func control(_ arguments: String) throws -> Program.Result {
        try system.attempt("killswitchctl \(arguments)")
    }

    func json(_ command: String) throws -> JSON.Value { try JSON.Value.parse(try run(command)) }

    func wait(until command: String, limit: Duration = longestWait) throws {
        try system.wait(until: command, limit: limit)
    }

    /// Waits for an entry of the daemon since the test began.
    func wait(forEntry words: String) throws {
        let entries = "journalctl -u killswitchd --since @\(start)"
        try wait(until: "journalctl --sync; \(entries) | grep -q \"\(words)\"")
    }

    func wait(forStatus words: String) throws {
        try wait(until: "systemctl status killswitchd | grep -q \"\(words)\"")
    }

    /// Waits until a file of the daemon has a line with this pattern.
    func wait(for text: String, in file: String) throws {
        try wait(until: "grep -q '\(text)' /run/killswitchd/\(file)")
    }

    /// Starts the daemon and attaches these units.
    func start(attaching units: String = "") throws {
        try run("systemctl daemon-reload; systemctl start killswitchd")
        if !units.isEmpty { try run("killswitchctl attach shop \(units)") }
    }

    /// Starts the daemon, and attaches and starts these units.
    func startUnits(_ units: String) throws {
        try start(attaching: units)
        try run("systemctl start \(units)")
    }

    func awaitDown(_ units: String...) throws {
        for unit in units {
            try wait(until: "systemctl show -P ActiveState \(unit) | grep -qE 'inactive|failed'")
        }
    }

    func awaitUp(_ units: String...) throws {
        for unit in units { try wait(until: "systemctl is-active --quiet \(unit)") }
    }

    func property(_ name: String, of unit: String = "killswitchd") throws -> String {
        String(try run("systemctl show \(unit) -P \(name)").dropLast())
    }

    /// The entries of one kind since the test began.
    func journal(of kind: MessageID) throws -> [JSON.Object] {
        try run(
            "journalctl --sync; "
                + "journalctl MESSAGE_ID=\(kind.rawValue) --since @\(start) -o json"
        ).split(separator: "\n").compactMap { try JSON.Value.parse(Array($0.utf8)).object }
    }

    func sentences(of kind: MessageID) throws -> [String] {
        try journal(of: kind).compactMap { $0["MESSAGE"]?.string }
    }

    /// The object of a unit in units.json; nil if the unit is not listed.
    func row(_ unit: String, of service: String = "shop") throws -> JSON.Object? {
        try json("cat /run/killswitchd/\(service)/units.json").array?
            .compactMap(\.object).first { $0["name"]?.string == unit }
    }
}
