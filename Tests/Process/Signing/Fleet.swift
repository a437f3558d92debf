import CivilTime
import EventLoop
import Support

/// Signers with their keys, and a daemon on a file that one of them has to sign.
final class Fleet {
    let daemon: Daemon
    let alice: SigningKey
    let bob: SigningKey
    /// Nobody lists this key.
    let mallory: SigningKey

    /// The configuration of a source of type `file`; `service` are additional lines of the service.
    static func configuration(service: String = "", source: String = "") -> String {
        """
        [source.app]
        type = "file"
        path = "flags.json"
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
        try list(["alice \(alice.publicText)", "bob \(bob.publicText)"])
    }

    /// Replaces the list of signers.
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

    /// A document with the signatures of these keys.
    func signed(_ document: String, by keys: [SigningKey]) throws -> String {
        document + (try keys.map { try $0.sign(document) }.joined())
    }

    /// Publishes a document with the signatures of these keys.
    func publish(_ end: String, version: Int, by keys: SigningKey...) throws {
        try publish(signed(Self.document(end, version: version), by: keys))
    }

    /// Publishes these bytes.
    func publish(_ text: String) throws { try daemon.folder.write(text, to: "flags.json") }
}
