import CivilTime
import Decision
import EventLoop
import JSON
import SourceKinds
import Transfer

/// Keeps the installation of a source, and its token fresh (Firebase Installations).
final class Installations {
    typealias Completion = (Result<String, Failure>) -> Void

    private let place: ClientTemplatePlace
    private let url: String
    private let version: String
    private let file: InstallationFile
    private let loop: EventLoop
    private let client: HTTPClient
    private var exchange: Exchange?
    private(set) var installation: Installation
    /// Why the installation is not kept, where it cannot be stored.
    private(set) var problem: String?
    /// The service is asked again from then on.
    private var pause: (until: Boottime, because: Failure)?

    init(
        of source: SourceName, _ place: ClientTemplatePlace, bearings: Bearings, client: HTTPClient,
        loop: EventLoop
    ) {
        self.place = place
        self.client = client
        self.loop = loop
        url = place.installationsURL ?? ""
        version = bearings.sdkVersion
        file = InstallationFile(
            of: source, app: "\(place.project) \(place.appID)", in: bearings.stateDirectory)
        let known = file.read()
        installation = known ?? .random()
        if known == nil { store() }
    }

    deinit { exchange?.cancel() }

    /// Tells the token, at once or by `deadline`. After a failure that stands for a minute, or as long
    /// as the service asked for: the flags can be had without.
    func withToken(by deadline: Boottime, _ completion: @escaping Completion) {
        let now = loop.now
        if let token = installation.freshToken(at: now.wall) {
            return completion(.success(token))
        }
        if let pause, now.boot < pause.until { return completion(.failure(pause.because)) }
        do throws(TransferError) {
            if exchange == nil { exchange = try Exchange(client) }
            let refreshToken = installation.refreshToken
            var request = request(by: refreshToken, timeout: deadline - now.boot)
            request.keepOnThisMachine()
            try exchange?.send(request) { [unowned self] result in
                completion(end(result, isRenewal: refreshToken != nil))
            }
        } catch {
            completion(.failure(Failure(deed, error, of: place.timeout / 2)))
        }
    }

    /// The service did not take the token.
    func dropToken() {
        installation.dropToken()
    }

    func cancel() {
        exchange?.cancel()
    }

    private func end(
        _ result: Result<HTTPResponse, TransferError>, isRenewal: Bool
    ) -> Result<String, Failure> {
        do throws(Failure) {
            let response: HTTPResponse
            do throws(TransferError) { response = try result.get() } catch {
                throw Failure(deed, error, of: place.timeout / 2)
            }
            let token = try take(response, isRenewal: isRenewal)
            pause = nil
            store()
            return .success(token)
        } catch {
            let wait = min(error.retryAfter ?? .seconds(60), .seconds(3600))
            let isForgotten = isRenewal && installation.refreshToken == nil
            pause = isForgotten ? nil : (loop.now.boot + wait, error)
            return .failure(error)
        }
    }

    private func take(_ response: HTTPResponse, isRenewal: Bool) throws(Failure) -> String {
        let now = loop.now.wall
        guard (200..<300).contains(response.status) else {
            // Forgotten there: registered anew the next time.
            if isRenewal, [401, 404].contains(response.status) { installation.unregister() }
            throw response.refusal(to: deed, now: now)
        }
        let members = try FlagDocument.parse(response.body)
        if isRenewal {
            let token = try Installation.Token(members, at: now)
            installation.renew(token)
            return token.text
        }
        guard let refreshToken = members["refreshToken"]?.string, refreshToken.isHeaderText,
            let token = members["authToken"]?.object
        else { throw Failure(.unreachable, "\(deed): the answer holds no token") }
        let read = try Installation.Token(token, at: now)
        let id = members["fid"]?.string.flatMap { $0.isHeaderText ? $0 : nil }
        installation.register(as: id, refreshToken: refreshToken, read)
        return read.text
    }

    private func request(by refreshToken: String?, timeout: Duration) -> HTTPRequest {
        var body: JSON.Object = ["appId": .string(place.appID), "sdkVersion": .string(version)]
        var path = "\(url)/v1/projects/\(place.project)/installations"
        var headers = place.headers
        if let refreshToken {
            path += "/\(installation.id)/authTokens:generate"
            headers.append(Header("Authorization", "FIS_v2 \(refreshToken)"))
            body = ["installation": .object(body)]
        } else {
            body["fid"] = .string(installation.id)
            body["authVersion"] = "FIS_v2"
        }
        return HTTPRequest(
            url: path, headers: headers, body: Array(JSON.Value.object(body).serialized().utf8),
            timeout: max(timeout, .milliseconds(1)), maxBody: 64 << 10,
            keptOfRefusal: GoogleError.limit)
    }

    private func store() {
        do {
            try file.write(installation)
            problem = nil
        } catch {
            problem = "the installation is not kept: \(error)"
        }
    }

    private var deed: String { "get an installation token from '\(url)'" }
}

extension Installation.Token {
    /// Reads `{"token", "expiresIn": "604800s"}`.
    fileprivate init(_ members: JSON.Object, at now: Instant) throws(Failure) {
        guard let text = members["token"]?.string, text.isHeaderText,
            let lifetime = members["expiresIn"]?.string, lifetime.last == "s",
            let seconds = Int64(lifetime.dropLast()), seconds > 0
        else { throw Failure(.unreachable, "the service of installations gives no token") }
        self.init(text: text, expires: now + .seconds(min(seconds, 86_400 * 366)))
    }
}

extension ClientTemplatePlace {
    /// What every request to the services says.
    var headers: [Header] {
        [
            Header("Content-Type", "application/json"), Header("Accept", "application/json"),
            Header("X-Goog-Api-Key", apiKey),
        ]
    }
}

extension Bearings {
    /// The version of this program, in the form in which the official client for the web gives its.
    var sdkVersion: String { "w:\(agent.split(separator: "/").last ?? "0")" }
}

extension String {
    /// Whether it may stand in a header or a path.
    fileprivate var isHeaderText: Bool {
        !isEmpty && utf8.count <= 4096 && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
