import Files
import HTTP
import Signing
import SourceSettings

/// Makes the text that binds an answer to its URL, its headers and its credentials. An ETag is sent
/// only to the URL and with the credentials that it came by (RFC 9111 §4): the server could
/// otherwise confirm the flags of another client.
struct RequestFingerprint {
    /// Identifies the URL, the socket, the headers, and everything else that each request sends.
    private let place: String

    /// The binding of the site's answers. `more` is sent with each request, such as a body.
    init(to settings: HTTPSettings, sending more: String = "") {
        let headers = settings.headers.map { "\($0.name): \($0.value)\n" }.joined()
        let socket = settings.unixSocket.map { " by \($0)" } ?? ""
        place =
            "\(settings.shownURL)\(socket) "
            + SHA256.hexadecimal(of: Array("\(settings.url)\n\(headers)\(more)".utf8)) + " "
    }

    /// The binding as it is stored with an answer; no secret is in it. Without `secrets` the
    /// credentials cannot be read, and no ETag is sent under the binding.
    func text(_ secrets: Secrets?) -> String { place + (secrets?.digest ?? "unknown") }

    /// Whether an answer that was stored with `text` came from this site, by any credentials.
    func covers(_ text: String) -> Bool { text.utf8.starts(with: place.utf8) }
}
