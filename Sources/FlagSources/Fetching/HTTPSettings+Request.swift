import HTTP
import SourceSettings

extension HTTPSettings {
    /// Whether the request depends on files, which may change.
    var namesSecrets: Bool { !credentials.isEmpty }

    /// The URL for logs.
    var shownURL: String { url.withoutSecrets }

    /// The request for the flags, without conditions.
    func request(with secrets: Secrets, agent: String) -> HTTPRequest {
        var own = [Header("Accept", "application/json"), Header("User-Agent", agent)]
        own.removeAll { mine in headers.contains { $0.name.lowercased() == mine.name.lowercased() }
        }
        own += secrets.headers
        own += headers.map { Header($0.name, $0.value) }
        return HTTPRequest(
            url: url, headers: own, timeout: limits.timeout, maxBody: limits.maxBody,
            authorities: secrets.authorities, identity: secrets.identity, unixSocket: unixSocket)
    }
}
