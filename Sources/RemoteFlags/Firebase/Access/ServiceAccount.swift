import CivilTime
import Decision
import Files
import JSON
import Signing
import Transfer

/// The key of a service account, as Google Cloud gives it out: a JSON file.
struct ServiceAccount {
    let email: String
    /// Where access tokens are asked for.
    let tokenURL: String
    private let keyID: String?
    private let key: RSAKey

    /// Reads the file; `name` is the credential's, for errors, in which nothing of the key stands.
    init(_ bytes: [UInt8], named name: String) throws(Failure) {
        do {
            guard case .object(let members) = try JSON.Value.parse(bytes) else {
                throw AccountFlaw("it is no JSON object")
            }
            guard members["type"]?.string.map({ $0 == "service_account" }) ?? true else {
                throw AccountFlaw("its 'type' is not 'service_account'")
            }
            email = try members.text("client_email")
            keyID = members["private_key_id"]?.string
            tokenURL = try members.text("token_uri")
            // Whoever can name another place gets an assertion that is good for an hour.
            guard let address = WebAddress(tokenURL), address.isConfidential else {
                throw AccountFlaw("its 'token_uri' is not https")
            }
            key = try RSAKey(pem: Array(try members.text("private_key").utf8))
        } catch {
            throw Failure(
                .unreachable, "read the key of the service account '\(name)': \(error)")
        }
    }

    /// The assertion that is exchanged for an access token (RFC 7523), valid for an hour by the clock
    /// of this host.
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

    /// Who is meant to read an assertion: the same wherever it is sent, as the official clients have
    /// it.
    private static let audience = "https://oauth2.googleapis.com/token"
}

/// What is wrong with the file.
private struct AccountFlaw: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension JSON.Object {
    fileprivate func text(_ key: String) throws(AccountFlaw) -> String {
        guard let text = self[key]?.string, !text.isEmpty else {
            throw AccountFlaw("its '\(key)' is missing")
        }
        return text
    }
}
