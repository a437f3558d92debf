import CivilTime
import Decision
import EventLoop
import Files
import Transfer

/// Gets access tokens, by the key of a service account or from the metadata server of the machine, and
/// keeps one until shortly before its end.
final class AccessTokens {
    typealias Completion = (Result<String, Failure>) -> Void

    private let credential: Credential?
    private let scope: String
    /// How long a whole fetch may take.
    private let limit: Duration
    private let bearings: Bearings
    private let loop: EventLoop
    private let client: HTTPClient
    private var exchange: Exchange?
    private var held: AccessToken?
    /// The service account by the file as it was last read.
    private var account: (bytes: [UInt8], account: ServiceAccount)?

    /// Without a `credential` the metadata server is asked.
    init(
        _ credential: Credential?, scope: String, limit: Duration, bearings: Bearings,
        client: HTTPClient, loop: EventLoop
    ) {
        self.credential = credential
        self.scope = scope
        self.limit = limit
        self.bearings = bearings
        self.client = client
        self.loop = loop
    }

    deinit { exchange?.cancel() }

    /// Tells a token, at once or by `deadline`; nothing more after `cancel()`.
    func withToken(by deadline: Boottime, _ completion: @escaping Completion) {
        do throws(Failure) {
            // The file is read each time: a key that was replaced is another account's, maybe.
            let account = try readAccount()
            let now = loop.now
            if let held, now.boot < held.renewAt { return completion(.success(held.text)) }
            let asking = try account.map { account throws(Failure) in
                try Self.request(to: account, for: scope, at: now.wall)
            }
            let request = asking ?? Self.request(toMetadataServer: bearings.metadataHost)
            try send(request, by: deadline, completion)
        } catch {
            completion(.failure(error))
        }
    }

    /// Forgets the token: the service does not take it.
    func drop() {
        held = nil
    }

    func cancel() {
        exchange?.cancel()
    }

    private func send(
        _ request: HTTPRequest, by deadline: Boottime, _ completion: @escaping Completion
    ) throws(Failure) {
        var request = request
        let askedAt = loop.now.boot
        request.timeout = max(deadline - askedAt, .milliseconds(1))
        request.keepOnThisMachine()
        request.headers.append(Header("User-Agent", bearings.agent))
        let deed = "get an access token from '\(request.url)'"
        do throws(TransferError) {
            if exchange == nil { exchange = try Exchange(client) }
            try exchange?.send(request) { [unowned self] result in
                completion(take(result, askedAt: askedAt, deed))
            }
        } catch {
            throw Failure(deed, error, of: limit)
        }
    }

    private func take(
        _ result: Result<HTTPResponse, TransferError>, askedAt: Boottime, _ deed: String
    ) -> Result<String, Failure> {
        do throws(Failure) {
            let response: HTTPResponse
            do throws(TransferError) { response = try result.get() } catch {
                throw Failure(deed, error, of: limit)
            }
            try check(response, deed)
            do throws(Failure) {
                let token = try AccessToken(response.body, askedAt: askedAt)
                held = token
                return .success(token.text)
            } catch {
                throw Failure(.unreachable, "\(deed): \(error.detail)")
            }
        } catch {
            return .failure(error)
        }
    }

    private func check(_ response: HTTPResponse, _ deed: String) throws(Failure) {
        guard response.status == 200 else {
            var failure = response.refusal(to: deed, now: loop.now.wall)
            // RFC 6749 §5.2: the assertion is not accepted, and will not be a second later either.
            if response.status == 400 {
                failure.kind = .refused
                if failure.detail.contains(exactly: "invalid_grant") {
                    failure.detail += "; is the clock right, and is the key still valid?"
                }
            }
            throw failure
        }
        // Whatever else answers on the link-local address is no metadata server.
        if credential == nil, response.headers["metadata-flavor"] != "Google" {
            throw Failure(.unreachable, "\(deed): what answers is no metadata server")
        }
    }

    private func readAccount() throws(Failure) -> ServiceAccount? {
        guard let credential else { return nil }
        let bytes: [UInt8]
        do {
            bytes = try credential.readSecret(
                in: bearings.credentialsDirectory, user: bearings.user)
        } catch {
            throw Failure(.unreachable, "\(error)")
        }
        if let account, account.bytes == bytes { return account.account }
        held = nil
        let read = try ServiceAccount(bytes, named: credential.text)
        account = (bytes, read)
        return read
    }

    private static func request(
        to account: ServiceAccount, for scope: String, at now: Instant
    ) throws(Failure) -> HTTPRequest {
        let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
        let assertion = try account.assertion(for: scope, at: now)
        return HTTPRequest(
            url: account.tokenURL,
            headers: [Header("Content-Type", "application/x-www-form-urlencoded")],
            body: Array("grant_type=\(grant)&assertion=\(assertion)".utf8), maxBody: 64 << 10,
            keptOfRefusal: GoogleError.limit)
    }

    private static func request(toMetadataServer host: String?) -> HTTPRequest {
        let host = host ?? "metadata.google.internal"
        let path = "computeMetadata/v1/instance/service-accounts/default/token"
        return HTTPRequest(
            url: "http://\(host)/\(path)", headers: [Header("Metadata-Flavor", "Google")],
            maxBody: 64 << 10, keptOfRefusal: GoogleError.limit)
    }
}
