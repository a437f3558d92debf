import CivilTime
import Files
import JSON
import Signing

/// Who this host is to a Firebase project: an id that it makes itself, once, and keeps. Percent
/// conditions and the service's own statistics go by it.
struct Installation: Hashable, Sendable {
    private(set) var id: String
    /// What a token is renewed by; nil where the service does not know the installation.
    private(set) var refreshToken: String?
    private(set) var token: Token?

    /// What the service lets the installation in with.
    struct Token: Hashable, Sendable {
        var text: String
        /// By the wall clock, for it is kept over restarts.
        var expires: Instant
    }

    /// A new one: four bits that say 7, and 128 at random, as the official clients make it.
    static func random() -> Installation {
        var bytes = (0..<17).map { _ in UInt8.random(in: .min ... .max) }
        bytes[0] = 0x70 | bytes[0] & 0x0F
        return Installation(id: String(Base64URL.text(of: bytes).prefix(22)))
    }

    private init(id: String) {
        self.id = id
    }

    /// The token, where it lasts another hour at least.
    func freshToken(at now: Instant) -> String? {
        token.flatMap { now + .seconds(3600) < $0.expires ? $0.text : nil }
    }

    /// The service has registered the installation, maybe by another id.
    mutating func register(as id: String?, refreshToken: String, _ token: Token) {
        self.id = id ?? self.id
        self.refreshToken = refreshToken
        self.token = token
    }

    mutating func renew(_ token: Token) {
        self.token = token
    }

    /// The service does not take the token.
    mutating func dropToken() {
        token = nil
    }

    /// The service does not know the installation any more. Its id stays.
    mutating func unregister() {
        refreshToken = nil
        token = nil
    }
}

extension Installation {
    /// The stored form. It holds secrets, if small ones.
    func json(for app: String) -> JSON.Value {
        [
            "schema": 1, "app": .string(app), "id": .string(id),
            "refresh_token": refreshToken.map { .string($0) } ?? .null,
            "token": token.map { .string($0.text) } ?? .null,
            "expires": token.map { .number(Number($0.expires.seconds)) } ?? .null,
        ]
    }

    /// Nil where it is another app's, or no stored form.
    init?(_ value: JSON.Value, of app: String) {
        guard let members = value.object, members["schema"]?.number?.int64 == 1,
            members["app"]?.string.map({ $0.utf8.elementsEqual(app.utf8) }) == true,
            let id = members["id"]?.string
        else { return nil }
        self.init(id: id)
        refreshToken = members["refresh_token"]?.string
        if let text = members["token"]?.string, let expires = members["expires"]?.number?.int64 {
            token = Token(text: text, expires: Instant(seconds: expires))
        }
    }
}
