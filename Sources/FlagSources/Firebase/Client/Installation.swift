import CivilTime
import Decision
import Files
import JSON
import Signing

/// The identity of this host in a Firebase project: an id that the host makes once and keeps. Percent
/// conditions and the service's statistics use it.
struct Installation: Hashable, Sendable {
    private(set) var id: String
    /// Renews a token; nil if the service does not know the installation.
    private(set) var refreshToken: String?
    private(set) var token: Token?

    /// Authenticates the installation to the service.
    struct Token: Hashable, Sendable {
        var text: String
        /// By the wall clock, since the token is kept over restarts.
        var expires: Instant
    }

    /// A new installation. Its id is made as the official clients make it: four bits that are 7, and 128
    /// random bits.
    static func random() -> Installation {
        var bytes = (0..<17).map { _ in UInt8.random(in: .min ... .max) }
        bytes[0] = 0x70 | bytes[0] & 0x0F
        return Installation(id: String(Base64URL.text(of: bytes).prefix(22)))
    }

    private init(id: String) { self.id = id }

    /// The token, unless it ends within an hour.
    func freshToken(at now: Instant) -> String? {
        token.flatMap { now + .seconds(3600) < $0.expires ? $0.text : nil }
    }

    /// Records that the service has registered the installation, maybe under another id.
    mutating func register(as id: String?, refreshToken: String, _ token: Token) {
        self.id = id ?? self.id
        self.refreshToken = refreshToken
        self.token = token
    }

    /// Keeps a new token.
    mutating func renew(_ token: Token) { self.token = token }

    /// Forgets the token, which the service does not accept.
    mutating func dropToken() { token = nil }

    /// Records that the service does not know the installation any more. Its id stays.
    mutating func unregister() {
        refreshToken = nil
        token = nil
    }
}

extension Installation {
    /// The stored form. It holds the tokens.
    func json(for app: String) -> JSON.Value {
        [
            "schema": 1, "app": .string(app), "id": .string(id),
            "refresh_token": refreshToken.map { .string($0) } ?? .null,
            "token": token.map { .string($0.text) } ?? .null,
            "expires": token.map { .number(Number($0.expires.seconds)) } ?? .null,
        ]
    }

    /// Reads the stored form; nil if it is malformed or belongs to another app.
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

/// The file under `$STATE_DIRECTORY` that keeps a source's installation over restarts. Only its owner may
/// read it.
struct InstallationFile {
    private let folder: String
    private let path: String
    /// The project and the app that the installation belongs to.
    private let app: String

    /// The file of a source; `app` is stored in it.
    init(of source: SourceName, app: String, in stateDirectory: String) {
        folder = "\(stateDirectory)/installations"
        path = "\(folder)/\(source).json"
        self.app = app
    }

    /// The stored installation; nil if this app has none, or if the file cannot be read.
    func read() -> Installation? {
        do {
            return Installation(try JSON.Value.parse(try File.read(path, limit: 64 << 10)), of: app)
        } catch {
            return nil
        }
    }

    /// Stores the installation, so that it survives a power loss.
    func write(_ installation: Installation) throws(FileError) {
        try Directory.create(folder)
        let text = installation.json(for: app).serialized(.pretty) + "\n"
        try File.replace(path, with: Array(text.utf8), mode: 0o600, surviving: .powerLoss)
    }
}
