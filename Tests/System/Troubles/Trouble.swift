import Testing

/// A kind of trouble, and how a test makes it on the booted system with the service `shop`.
struct Trouble: Sendable, CustomTestStringConvertible {
    let name: String
    var configuration = Host.shop
    /// The flags of the shop before.
    var flags: String? = Host.open
    /// What every surface has to say.
    let needle: String
    /// What the commands say instead that read files, where the daemon cannot write any.
    var inFiles: String?
    /// What the journal says instead, where it tells what began and the others what is.
    var journal: String?
    /// Prepares the system before the daemon starts.
    var prepare: @Sendable (Host) throws -> Void = { _ in }
    var cause: @Sendable (Host) throws -> Void = { _ in }
    /// Undoes what a reset of the system does not undo: a command.
    var end = "true"
    /// The unit whose status `systemctl status` shows.
    var unit = "killswitchd"
    /// Whether a daemon runs that has a status line.
    var hasDaemon = true

    var testDescription: String { name }

    /// Attached units of a service that stops and starts as it should.
    fileprivate static func attach(_ host: Host) throws {
        try host.services("t-web")
        try host.run("systemctl daemon-reload; systemctl start t-web")
    }

    /// The shop on an HTTP source that is asked every second.
    fileprivate static func http(_ url: String) -> String {
        """
        [source.app]
        type = "http"
        url = "\(url)"
        interval = "1s"
        timeout = "2s"
        [service.shop]
        source = "app"
        format = "switch"
        first_timeout = "1s"
        min_closed = "0s"
        """
    }
}

extension Trouble {
    /// All of them, in the order of the page.
    static let all = gates + units + sources + flags + host

    private static let mover = "killswitchd-gates.socket killswitchd-gates.service"

    private static let gates = [
        Trouble(
            name: "there is no message bus", needle: "connect to the bus",
            prepare: { try $0.run("systemctl stop dbus.socket dbus.service 2>/dev/null; true") },
            end: "systemctl start dbus.socket dbus.service"),
        Trouble(
            name: "nobody moves gates", needle: "killswitchd-gates.service, which moves gates",
            prepare: attach,
            cause: { host in
                try host.run("systemctl mask --runtime --now \(mover)")
                try host.set(Host.ended)
            },
            end: "systemctl unmask --runtime \(mover); systemctl start \(mover)"),
    ]

    private static let units = [
        Trouble(
            name: "a notice is not passed on",
            configuration: Host.service("shop", #"notify_before = ["31d"]"#),
            needle: "the units for its notices cannot be started",
            prepare: { try $0.run("systemctl mask --runtime killswitch-notice@shop.target") },
            cause: { host in
                let end = try host.run("date -u -d '10 days' +%Y-%m-%dT%H:%M:%SZ").dropLast()
                try host.set(#"{"state": "countdown", "ends_at": "\#(end)"}"#)
            },
            end: "systemctl unmask --runtime killswitch-notice@shop.target"),
        Trouble(
            name: "a unit does not stop", needle: "has not stopped within its limit of 5 s",
            prepare: { host in
                try host.deafService(
                    "t-web", limit: "5s",
                    "ExecStop=/bin/sleep infinity\nExecStopPost=/bin/sleep infinity")
                try host.run("systemctl daemon-reload; systemctl start t-web")
            }, cause: { try $0.set(Host.ended) },
            end: "systemctl kill --signal=KILL t-web; true"),
        Trouble(
            name: "a unit fails to start", flags: Host.ended,
            needle: "it failed with result 'exit-code'",
            prepare: { host in
                try host.unit("t-web.service", "[Service]\nExecStart=/bin/false")
            }, cause: { try $0.set(Host.open) }),
        Trouble(
            name: "the file of a unit is deleted", needle: "its unit file is gone", prepare: attach,
            cause: { try $0.run("rm /etc/systemd/system/t-web.service; systemctl daemon-reload") },
            end: "systemctl stop t-web; true"),
        Trouble(
            name: "a unit is masked", needle: "it is masked", prepare: attach,
            cause: { host in
                // A unit in /etc cannot be masked.
                try host.run(
                    "mv /etc/systemd/system/t-web.service /run; systemctl mask --runtime t-web")
            },
            end: "systemctl unmask --runtime t-web; systemctl stop t-web"
        ),
    ]

    private static let sources = [
        Trouble(
            name: "a source is down", configuration: http("http://127.0.0.1:9/shop.json"),
            flags: nil, needle: "cannot connect: connection refused"),
        Trouble(
            name: "the name of a source does not resolve",
            configuration: http("http://flags.invalid/shop.json"), flags: nil,
            needle: "the name 'flags.invalid' does not resolve"),
        Trouble(
            name: "the certificate of a source is not accepted",
            configuration: http("https://localhost:4443/shop.json"), flags: nil,
            needle: "certificate not accepted",
            prepare: { host in
                try host.run(
                    """
                    mkdir /run/t-tls && cd /run/t-tls
                    openssl req -x509 -newkey ed25519 -nodes -days 2 -subj /CN=localhost \
                        -addext subjectAltName=DNS:localhost -keyout key -out cert 2>/dev/null
                    systemd-run --quiet --unit=t-tls openssl s_server -quiet -www -accept 4443 \
                        -key /run/t-tls/key -cert /run/t-tls/cert
                    """)
            }),
        Trouble(
            name: "a proxy refuses",
            configuration: http("http://flags.example.test/shop.json"), flags: nil,
            needle: "the proxy '127.0.0.1:9' cannot be reached: connection refused",
            prepare: { try $0.override("Environment=http_proxy=http://127.0.0.1:9") }),
    ]

    private static let flags = [
        Trouble(
            name: "a flag has an unknown word", needle: "'paused'",
            cause: { host in try host.set(#"{"state": "paused"}"#) }),
        Trouble(
            name: "a flag has the wrong type", needle: "key 'state' is a number",
            cause: { host in try host.set(#"{"state": 7}"#) }),
        Trouble(
            name: "flags are stale", configuration: Host.service("shop", "max_stale = \"2s\""),
            needle: "are older than max_stale",
            cause: { try $0.run("rm /etc/killswitchd/shop.json") }),
        Trouble(
            name: "the host guard holds a closing",
            configuration: Host.shop + """
                [service.web]
                source = "file:/etc/killswitchd/shop.json"
                format = "switch"
                [limits]
                close_at_once = 1
                """, needle: "than close_at_once allows",
            journal: "would close at once (close_at_once is 1)",
            cause: { try $0.set(Host.ended) }),
        Trouble(
            name: "a guard holds a step",
            configuration: Host.service("shop", #"guard = "errors""#) + """
                [guard.errors]
                prometheus = "http://127.0.0.1:9"
                query = "shop_error_ratio < 0.01"
                """, needle: "guard 'errors' holds the step",
            cause: { host in
                try host.set(
                    #"{"state": "maintenance", "rollout": [{"at": "2024-03-01T09:00:00Z", "percent": 100}]}"#
                )
            }),
    ]

    private static let host = [
        Trouble(
            name: "the runtime directory is full", needle: "write the files of service 'shop'",
            inFiles: "the state of the host is not known",
            prepare: { host in try fileSystem("/run/killswitchd", on: host) },
            cause: { host in
                // The metrics come next after five seconds at the earliest. Once it is known that files of services
                // have no room, they are not written at all.
                let written = "cd /run/killswitchd && test -e shop/units.json -a -e host.json"
                try host.wait(until: "\(written) -a -e metrics.prom")
                // A hard link keeps the space of the files in use, also when they are removed.
                try host.run(
                    """
                    cd /run/killswitchd && for file in host.json shop/targets shop/*.*; do ln $file kept-${file#shop/}; done
                    cat /dev/zero > filler 2>/dev/null; true
                    """)
                try host.set(Host.ended)
                // The marker closes the gate; that the target of the state is missing is noticed after some seconds.
                try host.wait(forEntry: "the targets do not change")
            },
            end: "systemctl stop killswitchd; umount --lazy /run/killswitchd"),
        Trouble(
            name: "the state directory is full", needle: "store the flags of source 'shop'",
            prepare: { host in try fileSystem("/var/lib/killswitchd", on: host) },
            cause: { host in
                try host.run("cat /dev/zero > /var/lib/killswitchd/filler 2>/dev/null; true")
                try host.set(Host.ended)
            },
            end: "systemctl stop killswitchd; umount --lazy /var/lib/killswitchd"),
        Trouble(
            name: "the configuration is broken", needle: "killswitchd.toml:1:14: syntax error",
            cause: { host in
                try host.configure("[service.shop")
                _ = try host.system.attempt("systemctl reload killswitchd")
            }),
        Trouble(
            name: "the daemon is dead", needle: "killswitchd does not run", prepare: attach,
            cause: { host in
                try host.run("systemctl stop killswitchd")
                try host.run("touch --date '10 minutes ago' /run/killswitchd/alive")
                _ = try host.system.attempt("systemctl start killswitchd-alarm")
            }, unit: "killswitchd-alarm", hasDaemon: false),
        Trouble(
            name: "an operator's order is about to end", needle: "(maintenance) ends at",
            cause: { host in
                try host.run(
                    """
                    killswitchctl close shop --reason swap --for 1h >/dev/null
                    systemctl stop killswitchd
                    cd /var/lib/killswitchd
                    sed -i 's/"since": *"[^"]*"/"since": "'$(date -u -d '50 minutes ago' +%FT%TZ)'"/
                        s/"until": *"[^"]*"/"until": "'$(date -u -d '10 minutes' +%FT%TZ)'"/' \\
                        overrides.json
                    systemctl start killswitchd
                    """)
            }),
    ]

    /// Mounts a small file system for a directory of the daemon.
    private static func fileSystem(_ path: String, on host: Host) throws {
        try host.run(
            """
            mkdir -p \(path) && mount -t tmpfs -o size=128k,mode=0755 tmpfs \(path)
            chown killswitchd:killswitchd \(path)
            """)
    }
}
