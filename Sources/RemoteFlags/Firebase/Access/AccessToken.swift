import CivilTime
import Decision
import JSON

/// What lets us in for a while (RFC 6749 §1.4).
struct AccessToken {
    /// Fit for a header.
    let text: String
    /// From then on a new one is asked for, though this one is still good.
    let renewAt: Boottime

    /// Reads the answer of a token endpoint: `access_token` and `expires_in`. The life of the token
    /// is counted from when it was asked for.
    init(_ body: [UInt8], askedAt: Boottime) throws(Failure) {
        let members = try FlagDocument.parse(body)
        self = try Self.reading(
            members, text: "access_token", lifetime: members["expires_in"]?.number?.int64,
            askedAt: askedAt)
    }

    /// Reads one that stands under another key, with its life in seconds.
    static func reading(
        _ members: JSON.Object, text key: String, lifetime: Int64?, askedAt: Boottime
    ) throws(Failure) -> AccessToken {
        guard let text = members[key]?.string, !text.isEmpty,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw Failure(.invalid, "the answer holds no '\(key)'") }
        let lifetime = Duration.seconds(max(0, min(lifetime ?? 0, 86_400 * 366)))
        return AccessToken(text: text, renewAt: askedAt + lifetime - margin(of: lifetime))
    }

    private init(text: String, renewAt: Boottime) {
        self.text = text
        self.renewAt = renewAt
    }

    /// How long before its end a token is renewed: as the official clients do it, and never more than
    /// a quarter of its life.
    private static func margin(of lifetime: Duration) -> Duration {
        min(.seconds(225), lifetime / 4)
    }
}
