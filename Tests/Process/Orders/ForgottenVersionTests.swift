import JSON
import Support
import Testing

/// What a source remembers of versions, and `forget`, for each kind of source.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ForgottenVersionTests {
    /// The highest version that a daemon of `forget` kept in the object of a Firebase source: after a version that was
    /// too high, the documented way out dropped the good flags, and each answer was still refused.
    @Test(arguments: VersionedSource.Kind.allCases)
    func afterForgetTheNextAnswerCounts(_ kind: VersionedSource.Kind) async throws {
        let source = try await VersionedSource(kind)
        let daemon = source.daemon
        try source.publish(.ended, version: 12)
        try await daemon.start(awaiting: "ended")
        try source.publish(.running, version: 7)
        try await daemon.awaitReason("invalid-answer")
        #expect(try daemon.member("state") == #""ended""#)
        try daemon.control("forget", "app").expect(0)
        try await daemon.awaitState("running")
        try await daemon.awaitReason("flags")
        try source.publish(.ended, version: 8)
        try await daemon.awaitState("ended")
    }

    /// No lower version counts any more, which is said before the next order is refused.
    @Test(arguments: VersionedSource.Kind.allCases)
    func aJumpToTheLargestVersionIsTold(_ kind: VersionedSource.Kind) async throws {
        let source = try await VersionedSource(kind)
        let daemon = source.daemon
        try source.publish(.running, version: 3)
        try await daemon.start(awaiting: "running")
        // The interval of this test is too short for the real service, and the daemon says so.
        #expect(try daemon.warnings.allSatisfy { $0.contains("is below 60 s: Firebase") })
        try source.publish(.ended, version: .max)
        let reported = "version jumped from 3 to 9223372036854775807"
        try await daemon.awaitLine(reported)
        try await daemon.awaitState("ended")
        #expect(try daemon.control("status").output.contains(reported))
        try source.publish(.running, version: 4)
        try await daemon.awaitReason("invalid-answer")
        try daemon.control("forget", "app").expect(0)
        try await daemon.awaitState("running")
        #expect(try !daemon.control("status").output.contains(reported))
        #expect(try daemon.lines(with: reported).count { !$0.contains("over: ") } == 1)
    }
}

/// A server of one kind, whose flags have versions, and a daemon that polls it.
struct VersionedSource {
    enum Kind: String, CaseIterable, Sendable {
        case file, http, ofrep, etcd, firebase
        case firebaseServer = "firebase-server"
    }

    enum State: String {
        case running, ended

        /// The same by the format `service-end`.
        var end: JSON.Value { self == .running ? "no" : "over" }
    }

    let daemon: Daemon
    private let put: (State, Int64) throws -> Void

    /// A server without flags, and a daemon that does not run yet.
    init(_ kind: Kind) async throws {
        switch kind {
        case .file:
            let daemon = try Daemon(
                source: "type = \"file\"\npath = \"flags.json\"", service: #"format = "switch""#)
            self.daemon = daemon
            put = { try daemon.folder.write(Self.document($0, $1), to: "flags.json") }
        case .http:
            let server = try await FlagServer()
            try await server.behave("document")
            daemon = try Daemon(asking: server)
            put = { try server.folder.write(Self.document($0, $1), to: "document") }
        case .ofrep:
            let server = try await FlagServer.ofrep()
            daemon = try Daemon(evaluatedBy: server, interval: "100ms")
            put = {
                try server.folder.write(
                    #"{"shop": {"value": \#(Self.document($0, $1))}}"#, to: "flags.json")
            }
        case .etcd:
            let cluster = try await EtcdCluster()
            daemon = try Daemon(on: cluster)
            put = { _ = try cluster.control("put", "/flags/shop", Self.document($0, $1)) }
        case .firebase:
            let server = try await FirebaseServer()
            daemon = try Daemon(clientTemplateOf: server)
            put = { try server.publish(client: ["service_end": $0.end], version: Int($1)) }
        case .firebaseServer:
            let server = try await FirebaseServer()
            let key = try ServiceAccountKey("first", for: server)
            try key.enroll(at: server)
            daemon = try Daemon(serverTemplateOf: server, account: try key.json())
            put = { try server.publish(server: ["service_end": $0.end], version: Int($1)) }
        }
        let configuration = try daemon.folder.text(of: "killswitchd.toml")
        try daemon.configure(
            configuration.replacing(#"format = "status""#, with: #"format = "switch""#))
    }

    func publish(_ state: State, version: Int64) throws { try put(state, version) }

    private static func document(_ state: State, _ version: Int64) -> String {
        #"{"state": "\#(state.rawValue)", "version": \#(version)}"#
    }
}
