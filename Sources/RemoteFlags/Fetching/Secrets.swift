import Files
import Signing
import SourceKinds
import Transfer

/// The credentials of a site as they were read now. Their files may be replaced while the daemon runs.
struct Secrets: Hashable {
    var authorities: String?
    var identity: Identity?
    var bearer: String?
    var apiKey: String?

    /// Reads the credentials that the site names.
    init(of site: Site, _ environment: SourceEnvironment) throws(CredentialError) {
        let directory = environment.credentialsDirectory
        authorities = try site.authorities?.path(in: directory)
        if let certificate = site.clientCertificate {
            let own = try site.clientKey?.readSecret(in: directory, user: environment.user)
            // Without a key of its own the certificate's file holds both, and is the secret.
            let pem =
                own == nil
                ? try certificate.readSecret(in: directory, user: environment.user)
                : try certificate.read(in: directory)
            identity = Identity(certificate: pem, key: own ?? pem)
        }
        bearer = try site.bearer.map { token throws(CredentialError) in
            try Self.token(try token.readSecret(in: directory, user: environment.user), from: token)
        }
        apiKey = try site.apiKey.map { key throws(CredentialError) in
            try Self.token(try key.readSecret(in: directory, user: environment.user), from: key)
        }
    }

    /// The token without white space at its ends, such as an editor's line end. A token with a character
    /// that cannot stand in a header is refused, so that no credential can add headers.
    private static func token(
        _ bytes: [UInt8], from credential: Credential
    ) throws(CredentialError) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        var token = bytes[...].drop(while: isSpace)
        while let last = token.last, isSpace(last) { token.removeLast() }
        guard !token.isEmpty, token.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .unreadable(FileError("read the token in", credential.text, .malformed))
        }
        return String(decoding: token, as: UTF8.self)
    }

    /// Reads a password, without the line end that editors leave. It has to be UTF-8.
    static func password(
        _ credential: Credential, _ environment: SourceEnvironment
    ) throws(CredentialError) -> String {
        var bytes = try credential.readSecret(
            in: environment.credentialsDirectory, user: environment.user)
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
        guard !bytes.isEmpty, let password = String(validating: bytes, as: UTF8.self) else {
            throw .unreadable(FileError("read the password in", credential.text, .malformed))
        }
        return password
    }

    /// A SHA-256 of the credentials: it tells them from others and reveals none of them.
    var digest: String {
        let parts: [[UInt8]] = [
            Array((bearer ?? "").utf8), Array((apiKey ?? "").utf8), identity?.certificate ?? [],
            identity?.key ?? [],
        ]
        return SHA256.hexadecimal(of: parts.flatMap { Array("\($0.count):".utf8) + $0 })
    }
}

/// Makes the text that binds an answer to its URL, its headers and its credentials. An ETag is sent
/// only to the URL and with the credentials that it came by (RFC 9111 §4): the server could
/// otherwise confirm the flags of another client.
struct Binding {
    /// Identifies the URL, the socket, the headers, and everything else that each request sends.
    private let place: String

    /// The binding of the site's answers. `more` is sent with each request, such as a body.
    init(to site: Site, sending more: String = "") {
        let headers = site.headers.map { "\($0.name): \($0.value)\n" }.joined()
        let socket = site.unixSocket.map { " by \($0)" } ?? ""
        place =
            "\(site.shownURL)\(socket) "
            + SHA256.hexadecimal(of: Array("\(site.url)\n\(headers)\(more)".utf8)) + " "
    }

    /// The binding as it is stored with an answer; no secret is in it. Without `secrets` the
    /// credentials cannot be read, and no ETag is sent under the binding.
    func text(_ secrets: Secrets?) -> String { place + (secrets?.digest ?? "unknown") }

    /// Whether an answer that was stored with `text` came from this site, by any credentials.
    func covers(_ text: String) -> Bool { text.utf8.starts(with: place.utf8) }
}
