import Signing
import SourceKinds
import Transfer

/// What an answer depends on besides time: the place that was asked, and what was said to it. An ETag
/// is sent to no other place and with no other credential than it came by (RFC 9111 §4, and what
/// leaks where that is not heeded).
struct Binding {
    /// The URL, the socket, the headers, and what else is said each time.
    private let place: String

    init(to site: Site, saying more: String = "") {
        let headers = site.headers.map { "\($0.name): \($0.value)\n" }.joined()
        let socket = site.unixSocket.map { " by \($0)" } ?? ""
        place =
            "\(site.shownURL)\(socket) "
            + SHA256.hexadecimal(of: Array("\(site.url)\n\(headers)\(more)".utf8)) + " "
    }

    /// As it is stored with answers; no secret is in it. Without credentials, because they could not
    /// be read, it covers no ETag.
    func text(_ secrets: Secrets?) -> String { place + (secrets?.digest ?? "unknown") }

    /// Whether an answer that was stored with `text` may be one of this site's. Which credential it
    /// came by cannot be asked while ours cannot be read.
    func covers(_ text: String) -> Bool { text.utf8.starts(with: place.utf8) }
}
