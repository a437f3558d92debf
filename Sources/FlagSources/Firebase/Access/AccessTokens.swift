import CivilTime
import Decision
import Files
import HTTP
import JSON
import Requests
import Signing
import SourceSettings

/// Gets access tokens, by the key of a service account or from the metadata server of the machine,
/// and keeps a token until shortly before it expires.
final class AccessTokens {
    private let credential: Credential?
    private let scope: String
    private let context: SourceDependencies
    private let fetch: Fetch
    /// The token, fit for a header. From `renewAt` on a new one is requested, though this is still valid.
    private var held: (text: String, renewAt: Boottime)?
    /// The service account, and the file that it was read from.
    private var account: (bytes: [UInt8], account: ServiceAccount)?

    /// Without a `credential` the metadata server is asked. `limit` is that of the whole fetch of flags.
    init(_ credential: Credential?, scope: String, limit: Duration, for context: SourceDependencies)
    {
        self.credential = credential
        self.scope = scope
        self.context = context
        fetch = Fetch("", limit: limit, for: context)
    }

    /// Calls back with a token, at once or by `deadline`; never after `cancel()`.
    func withToken(
        by deadline: Boottime, _ completion: @escaping (Result<String, Failure>) -> Void
    ) {
        do throws(Failure) {
            // The file is read each time: a replaced key may be that of another account.
            let account = try readAccount()
            let now = context.now
            if let held, now.boot < held.renewAt { return completion(.success(held.text)) }
            let request = try request(by: account, at: now.wall)
            fetch.operation = "get an access token from '\(request.url.withoutSecrets)'"
            fetch.start(until: deadline)
            fetch.send(request) { [unowned self] result in
                completion(
                    Result { () throws(Failure) in try token(in: result.get(), askedAt: now.boot) })
            }
        } catch {
            completion(.failure(error))
        }
    }

    /// Forgets the token, which the service does not accept.
    func dropToken() { held = nil }

    /// Ends the request in flight.
    func cancel() { fetch.cancel() }

    /// Reads the answer of a token endpoint: `access_token` and `expires_in`, in seconds (RFC 6749 §5.1). The
    /// lifetime is counted from the time of the request.
    private func token(in response: HTTPResponse, askedAt: Boottime) throws(Failure) -> String {
        try check(response)
        let members: JSON.Object
        do throws(Failure) {
            members = try FlagDocument.parse(response.body)
        } catch {
            throw Failure(.unreachable, "\(fetch.operation): \(error.detail)")
        }
        guard let text = members["access_token"]?.string, text.isVisibleASCII else {
            throw Failure(.unreachable, "\(fetch.operation): the answer holds no 'access_token'")
        }
        let seconds = members["expires_in"]?.number?.int64 ?? 0
        let lifetime = Duration.seconds(max(0, min(seconds, 86_400 * 366)))
        // The margin of the official clients, and never more than a quarter of the lifetime.
        held = (text, askedAt + lifetime - min(.seconds(225), lifetime / 4))
        return text
    }

    private func check(_ response: HTTPResponse) throws(Failure) {
        guard response.status == 200 else {
            var failure = response.googleRefusal(of: fetch.operation, now: context.now.wall)
            // RFC 6749 §5.2: the assertion is not accepted. A retry would not help.
            if response.status == 400 {
                failure.kind = .refused
                if failure.detail.contains(exactly: "invalid_grant") {
                    failure.detail += "; is the clock right, and is the key still valid?"
                }
            }
            throw failure
        }
        // Another server may answer at the link-local address.
        if credential == nil, response.headers["metadata-flavor"] != "Google" {
            throw Failure(
                .unreachable, "\(fetch.operation): the answer is not from a metadata server")
        }
    }

    private func readAccount() throws(Failure) -> ServiceAccount? {
        guard let credential else { return nil }
        let bytes: [UInt8]
        do {
            bytes = try context.environment.secret(credential)
        } catch {
            throw Failure(.unreachable, "\(error)")
        }
        if let account, account.bytes == bytes { return account.account }
        held = nil
        let read = try ServiceAccount(bytes, named: credential.text)
        account = (bytes, read)
        return read
    }

    /// The request for a token by the key of an account, or to the metadata server.
    private func request(
        by account: ServiceAccount?, at now: Instant
    ) throws(Failure) -> HTTPRequest {
        let agent = Header("User-Agent", context.environment.userAgent)
        guard let account else {
            let host = context.environment.metadataHost ?? "metadata.google.internal"
            let path = "computeMetadata/v1/instance/service-accounts/default/token"
            return .google(
                "http://\(host)/\(path)", headers: [Header("Metadata-Flavor", "Google"), agent])
        }
        let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
        let assertion = try account.assertion(for: scope, at: now)
        return .google(
            account.tokenURL,
            headers: [Header("Content-Type", "application/x-www-form-urlencoded"), agent],
            body: Array("grant_type=\(grant)&assertion=\(assertion)".utf8))
    }
}

/// The key of a service account: a JSON file of Google Cloud.
struct ServiceAccount {
    let email: String
    let tokenURL: String
    private let keyID: String?
    private let key: RSAKey

    /// Reads the file. `name` is that of the credential, for failures; no failure shows a part of the key.
    init(_ bytes: [UInt8], named name: String) throws(Failure) {
        func problem(_ cause: String) -> Failure {
            Failure(.unreachable, "read the key of the service account '\(name)': \(cause)")
        }
        func text(_ key: String, in members: JSON.Object) throws(Failure) -> String {
            guard let text = members[key]?.string, !text.isEmpty else {
                throw problem("its '\(key)' is missing")
            }
            return text
        }
        let value: JSON.Value
        do { value = try JSON.Value.parse(bytes) } catch { throw problem("\(error)") }
        guard let members = value.object else { throw problem("it is not a JSON object") }
        guard members["type"]?.string.map({ $0 == "service_account" }) ?? true else {
            throw problem("its 'type' is not 'service_account'")
        }
        email = try text("client_email", in: members)
        keyID = members["private_key_id"]?.string
        tokenURL = try text("token_uri", in: members)
        // The endpoint gets an assertion that is valid for an hour.
        guard let address = WebAddress(tokenURL),
            address.scheme == "https" || address.scheme == "http" && address.host.isLoopbackHost
        else {
            throw problem("its 'token_uri' is not https")
        }
        let pem = Array(try text("private_key", in: members).utf8)
        do { key = try RSAKey(pem: pem) } catch { throw problem("\(error)") }
    }

    /// The assertion for an access token (RFC 7523), valid for an hour by the clock of this host.
    func assertion(for scope: String, at now: Instant) throws(Failure) -> String {
        let header: JSON.Value = [
            "alg": "RS256", "typ": "JWT", "kid": keyID.map { .string($0) } ?? .null,
        ]
        let claims: JSON.Value = [
            "iss": .string(email), "scope": .string(scope),
            // It does not depend on the endpoint, as in the official clients.
            "aud": "https://oauth2.googleapis.com/token",
            "iat": .number(Number(now.seconds)), "exp": .number(Number(now.seconds + 3600)),
        ]
        let parts = [header, claims].map { Base64URL.text(of: $0.serialized().utf8) }
        let text = parts.joined(separator: ".")
        do {
            return "\(text).\(Base64URL.text(of: try key.signature(over: Array(text.utf8))))"
        } catch {
            throw Failure(.unreachable, "sign by the key of '\(email)': \(error)")
        }
    }
}
