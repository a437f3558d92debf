import CivilTime
import Decision
import Files
import HTTP
import JSON
import Signing

/// The key of a service account: a JSON file of Google Cloud.
struct ServiceAccount {
    let email: String
    /// The endpoint for access tokens.
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
        guard let address = WebAddress(tokenURL), address.isConfidential else {
            throw problem("its 'token_uri' is not https")
        }
        let pem = Array(try text("private_key", in: members).utf8)
        do { key = try RSAKey(pem: pem) } catch { throw problem("\(error)") }
    }

    /// The assertion that is exchanged for an access token (RFC 7523). It is valid for an hour by the
    /// clock of this host.
    func assertion(for scope: String, at now: Instant) throws(Failure) -> String {
        let header: JSON.Value = [
            "alg": "RS256", "typ": "JWT", "kid": keyID.map { .string($0) } ?? .null,
        ]
        let claims: JSON.Value = [
            "iss": .string(email), "scope": .string(scope), "aud": .string(Self.audience),
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

    /// The audience of an assertion. It does not depend on the endpoint, as in the official clients.
    private static let audience = "https://oauth2.googleapis.com/token"
}
