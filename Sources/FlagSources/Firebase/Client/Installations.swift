import CivilTime
import Decision
import Files
import HTTP
import JSON
import Requests
import Signing
import SourceSettings

/// Keeps the installation of a source registered, its token fresh (Firebase Installations), and both in a file
/// under `$STATE_DIRECTORY` over restarts. Only its owner may read the file.
final class Installations {
    private let settings: FirebaseSettings
    private let context: SourceDependencies
    private let url: String
    private let folder: String
    private let fetch: Fetch
    private(set) var installation: Installation
    /// Why the installation could not be stored; nil if it was stored.
    private(set) var problem: String?
    /// When the service may be asked again after a failure.
    private var pause: (until: Boottime, because: Failure)?

    /// The installation of a source, read from its file or made and stored.
    init(for settings: FirebaseSettings, _ context: SourceDependencies) {
        self.settings = settings
        self.context = context
        url = settings.installationsURL ?? ""
        folder = "\(context.environment.stateDirectory)/installations"
        fetch = Fetch(
            "get an installation token from '\(url)'", limit: settings.limits.timeout / 2,
            for: context)
        installation = .random()
        do {
            let bytes = try File.read(path, limit: 64 << 10)
            if let known = Installation(try JSON.Value.parse(bytes), of: app) {
                installation = known
                return
            }
        } catch {
            // A file that cannot be read is replaced.
        }
        store()
    }

    /// Calls back with the token, at once or by `deadline`; never after `cancel()`. After a failure none is
    /// requested for a minute, or for as long as the service asks: it gives flags without one too.
    func withToken(
        by deadline: Boottime, _ completion: @escaping (Result<String, Failure>) -> Void
    ) {
        let now = context.now
        if let token = installation.freshToken(at: now.wall) { return completion(.success(token)) }
        if let pause, now.boot < pause.until { return completion(.failure(pause.because)) }
        let refreshToken = installation.refreshToken
        fetch.start(until: deadline)
        fetch.send(request(by: refreshToken)) { [unowned self] result in
            completion(responseArrived(result, isRenewal: refreshToken != nil))
        }
    }

    /// Forgets the token, which the service does not accept.
    func dropToken() { installation.token = nil }

    /// Ends the request in flight.
    func cancel() { fetch.cancel() }

    private func responseArrived(
        _ result: Result<HTTPResponse, Failure>, isRenewal: Bool
    ) -> Result<String, Failure> {
        do throws(Failure) {
            let token = try readToken(in: try result.get(), isRenewal: isRenewal)
            installation.token = token
            pause = nil
            store()
            return .success(token.text)
        } catch {
            let wait = min(error.retryAfter ?? .seconds(60), .seconds(3600))
            let isForgotten = isRenewal && installation.refreshToken == nil
            pause = isForgotten ? nil : (context.now.boot + wait, error)
            return .failure(error)
        }
    }

    /// The token in an answer. One to a registration also holds the refresh token, and maybe another id.
    private func readToken(
        in response: HTTPResponse, isRenewal: Bool
    ) throws(Failure) -> Installation.Token {
        let now = context.now.wall
        guard (200..<300).contains(response.status) else {
            // The service has forgotten the installation: the next fetch registers it again, by its id.
            if isRenewal, [401, 404].contains(response.status) {
                (installation.refreshToken, installation.token) = (nil, nil)
            }
            throw response.googleRefusal(of: fetch.operation, now: now)
        }
        let members = try FlagDocument.parse(response.body)
        if isRenewal { return try Installation.Token(members, at: now) }
        guard let refreshToken = members["refreshToken"]?.string, refreshToken.isShortHeaderText,
            let authToken = members["authToken"]?.object
        else { throw Failure(.unreachable, "\(fetch.operation): the answer holds no token") }
        let token = try Installation.Token(authToken, at: now)
        if let id = members["fid"]?.string, id.isShortHeaderText { installation.id = id }
        installation.refreshToken = refreshToken
        return token
    }

    private func request(by refreshToken: String?) -> HTTPRequest {
        var body: JSON.Object = [
            "appId": .string(settings.appID), "sdkVersion": .string(context.environment.sdkVersion),
        ]
        var path = "\(url)/v1/projects/\(settings.project)/installations"
        var headers = settings.headers
        if let refreshToken {
            path += "/\(installation.id)/authTokens:generate"
            headers.append(Header("Authorization", "FIS_v2 \(refreshToken)"))
            body = ["installation": .object(body)]
        } else {
            body["fid"] = .string(installation.id)
            body["authVersion"] = "FIS_v2"
        }
        return .google(path, headers: headers, body: body.bytes)
    }

    private var path: String { "\(folder)/\(context.name).json" }

    private var app: String { "\(settings.project) \(settings.appID)" }

    private func store() {
        do {
            try Directory.create(folder)
            let text = installation.json(for: app).serialized(.pretty) + "\n"
            try File.replace(path, with: Array(text.utf8), mode: 0o600, surviving: .powerLoss)
            problem = nil
        } catch {
            problem = "the installation is not kept: \(error)"
        }
    }
}

/// The identity of this host in a Firebase project: an id that the host makes once and keeps. Percent
/// conditions and the service's statistics use it.
struct Installation {
    fileprivate(set) var id: String
    /// Renews a token; nil if the service does not know the installation.
    fileprivate(set) var refreshToken: String?
    fileprivate(set) var token: Token?

    /// Authenticates the installation to the service.
    struct Token {
        let text: String
        /// By the wall clock, since the token is kept over restarts.
        let expires: Instant
    }

    /// A new installation, its id as the official clients make it: four bits that are 7, and 128 random bits.
    fileprivate static func random() -> Installation {
        var bytes = (0..<17).map { _ in UInt8.random(in: .min ... .max) }
        bytes[0] = 0x70 | bytes[0] & 0x0F
        return Installation(id: String(Base64URL.text(of: bytes).prefix(22)))
    }

    /// The token, unless it ends within an hour.
    func freshToken(at now: Instant) -> String? {
        token.flatMap { now + .seconds(3600) < $0.expires ? $0.text : nil }
    }
}

extension Installation {
    fileprivate func json(for app: String) -> JSON.Value {
        [
            "schema": 1, "app": .string(app), "id": .string(id),
            "refresh_token": refreshToken.map { .string($0) } ?? .null,
            "token": token.map { .string($0.text) } ?? .null,
            "expires": token.map { .number(Number($0.expires.seconds)) } ?? .null,
        ]
    }

    /// Reads the stored form; nil if it is malformed or belongs to another app.
    fileprivate init?(_ value: JSON.Value, of app: String) {
        guard let members = value.object, members["schema"]?.number?.int64 == 1,
            members["app"]?.string.map({ $0.utf8.elementsEqual(app.utf8) }) == true,
            let id = members["id"]?.string
        else { return nil }
        self.init(id: id, refreshToken: members["refresh_token"]?.string)
        if let text = members["token"]?.string, let expires = members["expires"]?.number?.int64 {
            token = Token(text: text, expires: Instant(seconds: expires))
        }
    }
}

extension Installation.Token {
    /// Reads `{"token", "expiresIn": "604800s"}`.
    fileprivate init(_ members: JSON.Object, at now: Instant) throws(Failure) {
        guard let text = members["token"]?.string, text.isShortHeaderText,
            let lifetime = members["expiresIn"]?.string, lifetime.last == "s",
            let seconds = Int64(lifetime.dropLast()), seconds > 0
        else { throw Failure(.unreachable, "the service of installations gives no token") }
        self.init(text: text, expires: now + .seconds(min(seconds, 86_400 * 366)))
    }
}

extension HostEnvironment {
    /// The version of this program, in the form that the official client for the web uses for its own.
    var sdkVersion: String { "w:\(userAgent.split(separator: "/").last ?? "0")" }
}

extension String {
    /// Whether it may stand in a header or a path.
    fileprivate var isShortHeaderText: Bool { isVisibleASCII && utf8.count <= 4096 }
}
