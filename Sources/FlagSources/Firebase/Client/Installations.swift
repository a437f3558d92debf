import CivilTime
import Decision
import HTTP
import JSON
import SourceSettings

/// Keeps the installation of a source registered, and its token fresh (Firebase Installations).
final class Installations {
    private let settings: FirebaseSettings
    private let context: SourceDependencies
    private let url: String
    private let file: InstallationFile
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
        fetch = Fetch(
            "get an installation token from '\(url)'", limit: settings.limits.timeout / 2,
            for: context)
        file = InstallationFile(
            of: context.name, app: "\(settings.project) \(settings.appID)",
            in: context.environment.stateDirectory)
        let known = file.read()
        installation = known ?? .random()
        if known == nil { store() }
    }

    /// Calls back with the token, at once or by `deadline`; never after `cancel()`. After a failure
    /// no token is requested for a minute, or for as long as the service asks: the service gives
    /// flags without a token too.
    func withToken(
        by deadline: Boottime, _ completion: @escaping (Result<String, Failure>) -> Void
    ) {
        let now = context.now
        if let token = installation.freshToken(at: now.wall) {
            return completion(.success(token))
        }
        if let pause, now.boot < pause.until { return completion(.failure(pause.because)) }
        let refreshToken = installation.refreshToken
        fetch.start(until: deadline)
        fetch.send(request(by: refreshToken)) { [unowned self] result in
            completion(responseArrived(result, isRenewal: refreshToken != nil))
        }
    }

    /// Forgets the token, which the service does not accept.
    func dropToken() { installation.dropToken() }

    /// Ends the request in flight.
    func cancel() { fetch.cancel() }

    private func responseArrived(
        _ result: Result<HTTPResponse, Failure>, isRenewal: Bool
    ) -> Result<String, Failure> {
        do throws(Failure) {
            let token = try storeToken(from: try result.get(), isRenewal: isRenewal)
            pause = nil
            store()
            return .success(token)
        } catch {
            let wait = min(error.retryAfter ?? .seconds(60), .seconds(3600))
            let isForgotten = isRenewal && installation.refreshToken == nil
            pause = isForgotten ? nil : (context.now.boot + wait, error)
            return .failure(error)
        }
    }

    private func storeToken(from response: HTTPResponse, isRenewal: Bool) throws(Failure) -> String
    {
        let now = context.now.wall
        guard (200..<300).contains(response.status) else {
            // The service has forgotten the installation: the next fetch registers it again.
            if isRenewal, [401, 404].contains(response.status) { installation.unregister() }
            throw response.googleRefusal(of: fetch.operation, now: now)
        }
        let members = try FlagDocument.parse(response.body)
        if isRenewal {
            let token = try Installation.Token(members, at: now)
            installation.renew(token)
            return token.text
        }
        guard let refreshToken = members["refreshToken"]?.string, refreshToken.isShortHeaderText,
            let token = members["authToken"]?.object
        else { throw Failure(.unreachable, "\(fetch.operation): the answer holds no token") }
        let read = try Installation.Token(token, at: now)
        let id = members["fid"]?.string.flatMap { $0.isShortHeaderText ? $0 : nil }
        installation.register(as: id, refreshToken: refreshToken, read)
        return read.text
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

    private func store() {
        do {
            try file.write(installation)
            problem = nil
        } catch {
            problem = "the installation is not kept: \(error)"
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
