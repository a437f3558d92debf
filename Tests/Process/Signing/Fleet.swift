import CivilTime
import EventLoop
import Support
import Testing

/// Signers with their keys, and a daemon on a file that one of them has to sign.
final class Fleet {
    let daemon: Daemon
    let alice: SigningKey
    let bob: SigningKey
    /// Nobody lists this key.
    let mallory: SigningKey

    /// The configuration of a source of type `file` or of another `place`; `service` and `source` are
    /// additional lines of the tables.
    static func configuration(
        service: String = "", source: String = "",
        place: String = "type = \"file\"\npath = \"flags.json\""
    ) -> String {
        """
        [source.app]
        \(place)
        signers = "allowed_signers"
        audience = "prod"
        \(source)
        [service.shop]
        source = "app"
        format = "service-end"
        min_closed = "0s"
        \(service)
        """
    }

    /// Makes the keys, of these types, and lists alice and bob. Nothing is signed yet, and no daemon runs.
    init(_ configuration: String = Fleet.configuration(), keys: [String] = ["ed25519", "ecdsa"])
        throws
    {
        daemon = try Daemon(configuration, flags: nil)
        alice = try SigningKey(keys[0], in: daemon.folder, name: "alice")
        bob = try SigningKey(keys[1], in: daemon.folder, name: "bob")
        mallory = try SigningKey("ed25519", in: daemon.folder, name: "mallory")
        try list("alice", "bob")
    }

    /// Signers, and a daemon that has taken what one of them has published.
    static func following(
        _ configuration: String = Fleet.configuration(), publishing end: String = "no",
        version: Int = 8, by key: KeyPath<Fleet, SigningKey> = \.alice
    ) async throws -> Fleet {
        let fleet = try Fleet(configuration)
        try fleet.publish(end, version: version, by: fleet[keyPath: key])
        try await fleet.daemon.start(awaitingReason: "flags")
        return fleet
    }

    func list(_ names: String...) throws {
        try list(names.map { "\($0) \(try ($0 == "bob" ? bob : alice).publicText)" })
    }

    func list(_ lines: [String]) throws {
        try daemon.folder.write(lines.joined(separator: "\n") + "\n", to: "allowed_signers")
    }

    /// A document that ends the service, or not.
    static func document(
        _ end: String, version: Int, expires: Duration = .seconds(3600), audience: String = "prod"
    ) -> String {
        let time = Zone.utc.rfc3339(Instant(seconds: (EventLoop.wallClock + expires).seconds))
        return """
            {"service_end": "\(end)", "version": \(version), "expires": "\(time)", \
            "audience": "\(audience)"}

            """
    }

    func signed(_ document: String, by keys: [SigningKey]) throws -> String {
        document + (try keys.map { try $0.sign(document) }.joined())
    }

    /// Publishes a document with the signatures of these keys.
    func publish(_ end: String, version: Int, by keys: SigningKey...) throws {
        try publish(signed(Self.document(end, version: version), by: keys))
    }

    func publish(
        _ end: String, version: Int, by keys: SigningKey..., awaiting state: String
    ) async throws {
        try publish(signed(Self.document(end, version: version), by: keys))
        try await daemon.awaitState(state)
    }

    /// Publishes a document, and waits until the verdict has this reason; expects this state then.
    func publish(
        _ end: String, version: Int, by keys: SigningKey..., awaitingReason reason: String,
        state: String? = nil, at location: SourceLocation = #_sourceLocation
    ) async throws {
        try publish(signed(Self.document(end, version: version), by: keys))
        try await daemon.awaitReason(reason, state: state, at: location)
    }

    func publish(_ text: String) throws { try daemon.folder.write(text, to: "flags.json") }

    /// Publishes these bytes, and waits until the verdict has this reason; expects this state then.
    func publish(
        _ text: String, awaitingReason reason: String, state: String? = nil,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        try publish(text)
        try await daemon.awaitReason(reason, state: state, at: location)
    }

    var text: String { get throws { try daemon.folder.text(of: "flags.json") } }

    /// Signs the published document with a key, by `killswitchctl sign` with these options.
    func sign(_ key: SigningKey, _ options: String...) throws -> Program.Result {
        try sign(daemon.folder(key.name), options)
    }

    func sign(_ key: String, _ options: [String]) throws -> Program.Result {
        try Programs.run(
            "killswitchctl", ["sign", daemon.folder("flags.json"), "--key", key] + options)
    }

    /// Verifies the published document by `killswitchctl verify`.
    func verify(_ options: String..., audience: String = "prod") throws -> Program.Result {
        try Programs.run(
            "killswitchctl",
            [
                "verify", daemon.folder("flags.json"), "--signers",
                daemon.folder("allowed_signers"), "--audience", audience,
            ] + options)
    }
}
