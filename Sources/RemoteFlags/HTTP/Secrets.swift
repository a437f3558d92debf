import Files
import Signing
import SourceKinds
import Transfer

/// The credentials of a site, as they are now: files may be replaced while the daemon runs.
struct Secrets: Hashable {
    var authorities: String?
    var identity: Identity?
    var bearer: String?
    var apiKey: String?

    /// Reads what the site names.
    init(of site: Site, _ bearings: Bearings) throws(CredentialError) {
        let directory = bearings.credentialsDirectory
        authorities = try site.authorities?.path(in: directory)
        if let certificate = site.clientCertificate {
            let own = try site.clientKey?.readSecret(in: directory, user: bearings.user)
            // Without a key of its own the certificate's file holds both, and is the secret.
            let pem =
                own == nil
                ? try certificate.readSecret(in: directory, user: bearings.user)
                : try certificate.read(in: directory)
            identity = Identity(certificate: pem, key: own ?? pem)
        }
        bearer = try site.bearer.map { token throws(CredentialError) in
            try Self.token(try token.readSecret(in: directory, user: bearings.user), from: token)
        }
        apiKey = try site.apiKey.map { key throws(CredentialError) in
            try Self.token(try key.readSecret(in: directory, user: bearings.user), from: key)
        }
    }

    /// The token less the line's end that editors leave. What cannot stand in a header is refused, so
    /// that no credential can add headers of its own.
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

    /// A password, less the line's end that editors leave.
    static func password(
        _ credential: Credential, _ bearings: Bearings
    ) throws(CredentialError) -> String {
        var bytes = try credential.readSecret(
            in: bearings.credentialsDirectory, user: bearings.user)
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
        guard !bytes.isEmpty, let password = String(validating: bytes, as: UTF8.self) else {
            throw .unreadable(FileError("read the password in", credential.text, .malformed))
        }
        return password
    }

    /// Tells these credentials from others without giving them away.
    var digest: String {
        let parts: [[UInt8]] = [
            Array((bearer ?? "").utf8), Array((apiKey ?? "").utf8), identity?.certificate ?? [],
            identity?.key ?? [],
        ]
        return SHA256.hexadecimal(of: parts.flatMap { Array("\($0.count):".utf8) + $0 })
    }
}
