import Files
import HTTP
import Signing
import SourceSettings

extension HTTPSettings {
    /// The URL for logs.
    var shownURL: String { url.withoutSecrets }

    /// The request for the flags, without conditions; with the credentials as they are now, unless they are given.
    func request(
        with secrets: Secrets? = nil, in environment: HostEnvironment
    ) throws(CredentialError) -> HTTPRequest {
        let secrets = if let secrets { secrets } else { try Secrets(of: self, environment) }
        let names = headers.map { $0.name.lowercased() }
        let own = [
            Header("Accept", "application/json"), Header("User-Agent", environment.userAgent),
        ].filter { !names.contains($0.name.lowercased()) }
        return HTTPRequest(
            url: url, headers: own + secrets.headers + headers.map { Header($0.name, $0.value) },
            timeout: limits.timeout, maxBody: limits.maxBody, authorities: secrets.authorities,
            identity: secrets.identity, unixSocket: unixSocket)
    }
}

/// Makes the text that binds an answer to its URL, its headers and its credentials. An ETag is sent
/// only to the URL and with the credentials that it came by (RFC 9111 §4): the server could
/// otherwise confirm the flags of another client.
struct RequestFingerprint {
    /// Identifies the URL, the socket, the headers, and everything else that each request sends.
    private let place: String
    /// The binding of the newest good answer: its validators are sent under no other. Nil before one, while the
    /// credentials cannot be read: an answer of an earlier run is assumed to have come with the present ones.
    var answered: String?

    /// The binding of the site's answers. `more` is sent with each request, such as a body.
    init(to settings: HTTPSettings, sending more: String = "", _ environment: HostEnvironment) {
        let headers = settings.headers.map { "\($0.name): \($0.value)\n" }.joined()
        let socket = settings.unixSocket.map { " by \($0)" } ?? ""
        place =
            "\(settings.shownURL)\(socket) "
            + SHA256.hexadecimal(of: Array("\(settings.url)\n\(headers)\(more)".utf8)) + " "
        let secrets = Result { try Secrets(of: settings, environment) }
        if case .success(let secrets) = secrets { answered = text(secrets) }
    }

    /// The binding of answers that these credentials bring; no secret is in it.
    func text(_ secrets: Secrets) -> String { place + secrets.digest }

    /// The binding as it is stored with an answer. No ETag is sent under that of unknown credentials.
    var stored: String { answered ?? place + "unknown" }

    /// Whether an answer that was stored with `text` holds the same flags. While the credentials cannot be read,
    /// they are assumed to be unchanged.
    func matches(_ text: String) -> Bool {
        answered.map { $0.utf8.elementsEqual(text.utf8) } ?? text.utf8.starts(with: place.utf8)
    }
}
