/// Where redirects may lead: at most ten, to the same host, and never from https to http.
///
/// The same host means the same port too, but for the step from http to https: what listens on
/// another port may be somebody else's, and the request carries credentials.
struct Redirect {
    static let limit = 10

    private let origin: String
    private var count = 0

    init(from url: String) {
        origin = url
    }

    /// Takes one more step. The credentials go to wherever this lets the request go.
    mutating func follow(_ url: String, from current: String) throws(RedirectError) {
        count += 1
        guard count <= Self.limit else { throw .tooMany(limit: Self.limit) }
        guard let origin = WebAddress(origin), let from = WebAddress(current),
            let next = WebAddress(url)
        else { throw .unreadable }
        guard next.host == origin.host else { throw .otherHost(next.host) }
        guard next.scheme == "http" || next.scheme == "https" else {
            throw .otherScheme(next.scheme)
        }
        let isUpgrade = from.scheme == "http" && next.scheme == "https"
        guard from.scheme == next.scheme || isUpgrade else { throw .downgrade }
        guard from.port == next.port || isUpgrade else { throw .otherPort(next.port) }
    }
}

/// A redirect that is not followed.
package enum RedirectError: Error, Hashable, Sendable {
    case tooMany(limit: Int)
    case unreadable
    case otherHost(String)
    case otherPort(String)
    case otherScheme(String)
    case downgrade
}

extension RedirectError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooMany(let limit): "redirected more than \(limit) times"
        case .unreadable: "redirected to what is no web address"
        case .otherHost(let host): "redirected to another host, '\(host)'"
        case .otherPort(let port): "redirected to another port, \(port)"
        case .otherScheme(let scheme): "redirected to '\(scheme)', which is not followed"
        case .downgrade: "redirected from https to http"
        }
    }
}
