import Files
import JSON
import Support
import Testing

/// An answer that brings nothing new for a service writes nothing for it, whatever its source counts up.
@Suite(.serialized, .timeLimit(.minutes(5))) struct UnchangedServiceTests {
    /// A source of each kind with the flag `service_end`, which the service reads, and the flag `foreign`,
    /// which it does not read.
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case file, http, firebase, firebaseServer = "firebase-server", ofrep, etcd

        var testDescription: String { rawValue }
    }

    @Test(arguments: Kind.allCases)
    func aChangeOfForeignFlagsWritesNothing(_ kind: Kind) async throws {
        let scene = try await Scene(kind)
        try scene.publish("no", foreign: "first")
        let daemon = scene.daemon
        try daemon.start()
        // The marker is written last.
        try await daemon.awaitFile("run/shop/open")
        let (written, version) = (try daemon.stamps, try daemon.member("version"))
        // The second of them is there only after all effects of the first.
        for foreign in ["second", "third", "fourth"] {
            try scene.publish("no", foreign: foreign)
            try await daemon.awaitUntil("the flag is stored") {
                try daemon.folder.text(of: "state/flags/app.json").contains(foreign)
            }
        }
        #expect(try daemon.stamps == written)
        #expect(try daemon.member("version") == version)

        try scene.publish("over", foreign: "fourth")
        try await daemon.awaitState("ended")
        #expect(try daemon.stamps != written)
        #expect(try version == nil || version == "null" || daemon.member("version") != version)
    }

    /// The version in etcd is that of the newest key that the service reads, also of a key that a value of
    /// it reads, and after a restart.
    @Test func theVersionInEtcdIsThatOfTheKeysThatAreRead() async throws {
        let cluster = try await EtcdCluster()
        let daemon = try Daemon(
            on: cluster, interval: "100ms",
            after: """
                [service.shop.values]
                colour = { key = "colour", type = "string" }
                """)
        let colour = try cluster.revision(ofPutting: "blue", at: "colour")
        let shop = try cluster.revision(ofPutting: StatusFlags.running.text, at: "shop")
        #expect(colour < shop)
        _ = try cluster.revision(ofPutting: "x", at: "foreign")
        try daemon.start()
        try await daemon.awaitVersion(shop)

        let red = try cluster.revision(ofPutting: "red", at: "colour")
        _ = try cluster.revision(ofPutting: "y", at: "foreign")
        try await daemon.awaitVersion(red)
        try daemon.stop()
        _ = try cluster.revision(ofPutting: "z", at: "foreign")
        try daemon.start()
        try await daemon.awaitVersion(red)

        // The same value again is another revision of the key.
        let again = try cluster.revision(ofPutting: StatusFlags.running.text, at: "shop")
        try await daemon.awaitVersion(again)
    }
}

/// A source of one kind, and a daemon that reads `service_end` from it.
private final class Scene {
    let daemon: Daemon
    private let write: (JSON.Object, Int) throws -> Void
    private var version = 0

    init(_ kind: UnchangedServiceTests.Kind) async throws {
        let service = #"format = "service-end""#
        switch kind {
        case .file:
            let daemon = try Daemon(
                source: "type = \"file\"\npath = \"flags.json\"", service: service)
            self.daemon = daemon
            write = { flags, _ in
                try daemon.folder.write(JSON.Value.object(flags).serialized(), to: "flags.json")
            }
        case .http:
            let server = try await FlagServer()
            try await server.behave("held")
            daemon = try Daemon(
                asking: "http://127.0.0.1:\(server.port)/flags", format: "service-end")
            write = { flags, _ in
                try server.folder.write(JSON.Value.object(flags).serialized(), to: "flags.json")
            }
        case .firebase:
            let server = try await FirebaseServer()
            daemon = try Daemon(clientTemplateOf: server)
            write = { try server.publish(client: $0, version: $1) }
        case .firebaseServer:
            let server = try await FirebaseServer()
            let key = try ServiceAccountKey.enrolled(at: server)
            daemon = try Daemon(serverTemplateOf: server, account: try key.json())
            write = { try server.publish(server: $0, version: $1) }
        case .ofrep:
            let server = try await FlagServer.ofrep()
            daemon = try Daemon(
                source: """
                    type = "ofrep"
                    url = "http://127.0.0.1:\(server.port)"
                    interval = "100ms"
                    """, service: service)
            write = { flags, _ in
                let evaluated = flags.map { ($0.key, JSON.Value.object(["value": $0.value])) }
                try server.folder.write(
                    JSON.Value.object(JSON.Object(evaluated)).serialized(), to: "flags.json")
            }
        case .etcd:
            let cluster = try await EtcdCluster()
            daemon = try Daemon(
                source: """
                    type = "etcd"
                    endpoints = \(cluster.endpoints)
                    prefix = "/flags/"
                    interval = "100ms"
                    """, service: service)
            var before = JSON.Object()
            write = { flags, _ in
                for (key, value) in flags where before[key] != value {
                    try cluster.control("put", "/flags/\(key)", value.string ?? "")
                }
                before = flags
            }
        }
    }

    /// Publishes both flags, with the next version where the source has versions.
    func publish(_ word: String, foreign: String) throws {
        version += 1
        try write(["service_end": .string(word), "foreign": .string(foreign)], version)
    }
}

extension Daemon {
    /// The identity of the files of the service 'shop': each write replaces them by new ones.
    fileprivate var stamps: String {
        get throws {
            try Program.run(
                "/usr/bin/stat",
                ["-c", "%n %i %z"] + ["json", "env"].map { folder("run/shop/state.\($0)") }
            ).output
        }
    }

    fileprivate func awaitVersion(_ revision: Int) async throws {
        try await awaitMember("version", "\(revision)")
    }
}

extension EtcdCluster {
    /// Puts a value below `/flags/`; returns the revision.
    fileprivate func revision(ofPutting value: String, at key: String) throws -> Int {
        let answer = try control("put", "/flags/\(key)", value, "--write-out", "json")
        let revision = try #require(answer.firstMatch(of: /"revision":([0-9]+)/)?.1)
        return try #require(Int(revision))
    }
}
