import CivilTime
import EventLoop
import Files
import Support
import Testing

/// A server that lies about the time, or a host where another server does: nothing of a signed document comes
/// true earlier. On a host whose clock the kernel calls synchronised no `Date` counts; on others it holds what comes.
@Suite(.timeLimit(.minutes(5))) struct LyingServerTests {
    private static let subjects = ["end", "window", "expires"]
    /// What each is once its time has come.
    private static let closed = ["end": "ended", "window": "maintenance", "expires": "maintenance"]

    private static func document(_ subject: String, at time: Instant) -> String {
        let late = Zone.utc.rfc3339(time + .seconds(86_400))
        let edge = Zone.utc.rfc3339(time)
        let flags =
            switch subject {
            case "end": #""state": "countdown", "ends_at": "\#(edge)""#
            case "window":
                #""state": "running", "windows": [{"from": "\#(edge)", "until": "\#(late)"}]"#
            default: #""state": "running""#
            }
        let expires = subject == "expires" ? edge : late
        return #"{\#(flags), "version": 1, "expires": "\#(expires)", "audience": "prod"}"# + "\n"
    }

    /// Services named like `http-end-2`: where the document is, what comes true, and how many sign.
    private struct Host {
        let fleet: Fleet
        let server: FlagServer
        let cluster: EtcdCluster
        private(set) var names: [String] = []

        /// The server is `ahead` seconds ahead, and all documents come true at `time`.
        init(ahead: Int, at time: Instant) async throws {
            server = try await FlagServer()
            try await server.behave("lying_\(ahead)")
            cluster = try await EtcdCluster()
            var configuration = """
                [source.liar]
                type = "http"
                url = "http://127.0.0.1:\(server.port)/liar"
                interval = "100ms"
                [service.liar]
                source = "liar"
                format = "service-end"

                """
            try server.folder.write(#"{"service_end": "no"}"#, to: "liar")
            var documents: [(name: String, subject: String, place: String, count: Int)] = []
            for subject in LyingServerTests.subjects {
                for count in [1, 2] {
                    documents.append(("http-\(subject)-\(count)", subject, "http", count))
                    documents.append(("file-\(subject)-\(count)", subject, "file", count))
                }
                documents.append(("etcd-\(subject)-2", subject, "etcd", 2))
            }
            for (name, _, place, count) in documents {
                let address =
                    switch place {
                    case "http": "url = \"http://127.0.0.1:\(server.port)/\(name)\""
                    case "file": "path = \"\(name)\""
                    default: "endpoints = \(cluster.endpoints)\nprefix = \"/\(name)\""
                    }
                configuration += """
                    [source.\(name)]
                    type = "\(place)"
                    \(address)
                    interval = "100ms"
                    signers = "allowed_signers"
                    audience = "prod"
                    [service.\(name)]
                    source = "\(name)"
                    format = "switch"
                    min_closed = "0s"
                    when_stale = "closed"
                    signatures_to_close = \(count)
                    signatures_to_open = \(count)

                    """
            }
            names = documents.map(\.name)
            fleet = try Fleet(configuration)
            for (name, subject, place, count) in documents {
                let signed = try fleet.signed(
                    LyingServerTests.document(subject, at: time),
                    by: count == 1 ? [fleet.alice] : [fleet.alice, fleet.bob])
                switch place {
                case "http": try server.folder.write(signed, to: name)
                case "file": try fleet.daemon.folder.write(signed, to: name)
                default: _ = try cluster.control("put", "/\(name)", signed)
                }
            }
            // A Date that is earlier than the build tells no time, so that the program has to be an old one.
            let old = fleet.daemon.folder("killswitchd")
            let program = try Programs.path(of: "killswitchd")
            try shell("cp '\(program)' '\(old)' && touch -d @1700000000 '\(old)'")
            try fleet.daemon.start(through: ["/bin/sh", "-c", "shift; exec '\(old)' \"$@\"", "sh"])
        }

        /// Waits until each service has this state.
        func awaitStates(_ state: (String) -> String?) async throws {
            for name in names {
                let subject = String(name.split(separator: "-")[1])
                let expected = try #require(state(subject))
                try await fleet.daemon.awaitUntil("\(name) is \(expected)") {
                    try File.exists(fleet.daemon.folder("run/\(name)/state.json"))
                        && fleet.daemon.member("state", of: name) == "\"\(expected)\""
                }
            }
        }
    }

    private static let before = ["end": "countdown", "window": "running", "expires": "running"]

    /// Two days ahead, an hour before everything comes true.
    @Test func aServerThatIsAheadBringsNothingForward() async throws {
        let host = try await Host(ahead: 172_800, at: EventLoop.wallClock + .seconds(3600))
        try await host.awaitStates { Self.before[$0] }
        for subject in Self.subjects {
            for count in [1, 2] {
                try await host.fleet.daemon.awaitLine(
                    "source 'http-\(subject)-\(count)': the server's clock is 2 days ahead; ")
            }
        }
        try await host.awaitStates { Self.before[$0] }
    }

    /// Two days behind, while everything comes true: so late that a busy host has seen each document before.
    @Test func aServerThatIsBehindHoldsWhatComesAndNoLonger() async throws {
        let time = Instant(seconds: (EventLoop.wallClock + .seconds(60)).seconds)
        let host = try await Host(ahead: -172_800, at: time)
        if EventLoop.isClockSynchronised != true {
            try await host.fleet.daemon.awaitUntil("everything has come") {
                EventLoop.wallClock > time + .seconds(2)
            }
            try await host.awaitStates { Self.before[$0] }
            try await host.server.behave("lying_0")
        }
        try await host.awaitStates { Self.closed[$0] }
        #expect(EventLoop.wallClock >= time)
    }
}
