package import Files
package import HTTP
import Signing
package import SourceSettings

extension HTTPSettings {
    /// The URL for logs.
    package var shownURL: String { url.withoutSecrets }

    /// The request for the flags, without conditions; with the credentials as they are now, unless they are given.
    package func request(
        with secrets: Secrets? = nil, in environment: HostEnvironment
    ) throws(CredentialError) -> HTTPRequest {
        let secrets = if let secrets { secrets } else { try Secrets(of: self, environment) }
        let names = headers.map { $0.name.lowercased() }
        let own = [
            Header("Accept", "application/json"), Header("User-Agent", environment.userAgent),
            .noCache,
        ].filter { !names.contains($0.name.lowercased()) }
        return HTTPRequest(
            url: url, headers: own + secrets.headers + headers.map { Header($0.name, $0.value) },
            timeout: limits.timeout, maxBody: limits.maxBody, authorities: secrets.authorities,
            identity: secrets.identity, unixSocket: unixSocket)
    }
}

extension Header {
    /// Has each cache on the way ask the origin (RFC 9111 §5.2.1.4): an order must not wait until a cache forgets.
    package static let noCache = Header("Cache-Control", "no-cache")
}

/// The text that binds an answer to its URL, headers and credentials. An ETag is sent only with its own binding
/// (RFC 9111 §4): the server could otherwise confirm the flags of another client.
package struct RequestFingerprint {
    /// Identifies the URL, the socket, the headers, and everything else that each request sends.
    private let place: String
    /// The binding of the newest good answer: its validators are sent under no other. Nil before one, while the
    /// credentials cannot be read: an answer of an earlier run is assumed to have come with the present ones.
    package var answered: String?

    /// The binding of the site's answers. `more` is sent with each request, such as a body.
    package init(
        to settings: HTTPSettings, sending more: String = "", _ environment: HostEnvironment
    ) {
        let headers = settings.headers.map { "\($0.name): \($0.value)\n" }.joined()
        let socket = settings.unixSocket.map { " by \($0)" } ?? ""
        place =
            "\(settings.shownURL)\(socket) "
            + SHA256.hexadecimal(of: Array("\(settings.url)\n\(headers)\(more)".utf8)) + " "
        let secrets = Result { try Secrets(of: settings, environment) }
        if case .success(let secrets) = secrets { answered = text(secrets) }
    }

    /// The binding of answers that these credentials bring; no secret is in it.
    package func text(_ secrets: Secrets) -> String { place + secrets.digest }

    /// The binding as it is stored with an answer. No ETag is sent under that of unknown credentials.
    package var stored: String { answered ?? place + "unknown" }

    /// Whether an answer that was stored with `text` holds the same flags. While the credentials cannot be read,
    /// they are assumed to be unchanged.
    package func matches(_ text: String) -> Bool {
        answered.map { $0.utf8.elementsEqual(text.utf8) } ?? text.utf8.starts(with: place.utf8)
    }
}

/// The credentials of a site as they were read now. Their files may be replaced while the daemon runs.
package struct Secrets: Hashable {
    /// The path of the file of authorities.
    package private(set) var authorities: String?
    /// What the other files hold; tokens without white space at their ends.
    private var contents: [CredentialRole: [UInt8]] = [:]

    /// Reads the credentials that the site names.
    package init(of settings: HTTPSettings, _ environment: HostEnvironment) throws(CredentialError)
    {
        let directory = environment.credentialsDirectory
        for role in CredentialRole.allCases {
            guard let credential = settings.credentials[role] else { continue }
            switch role {
            case .bearer, .apiKey: contents[role] = Array(try environment.token(credential).utf8)
            case .clientCertificate, .clientKey:
                contents[role] =
                    settings.isSecret(role)
                    ? try environment.secret(credential) : try credential.read(in: directory)
            case .authorities:
                let path = try credential.path(in: directory)
                authorities = path
                guard WebAddress(settings.url)?.scheme == "https" else { continue }
                // libcurl would call a missing file a certificate that is not accepted.
                do { _ = try File.attributes(of: path) } catch { throw .unreadable(error) }
            }
        }
        // Without a key of its own the certificate's file holds both.
        if contents[.clientKey] == nil { contents[.clientKey] = contents[.clientCertificate] }
    }

    package var identity: Identity? {
        guard let certificate = contents[.clientCertificate], let key = contents[.clientKey]
        else { return nil }
        return Identity(certificate: certificate, key: key)
    }

    package var headers: [Header] {
        CredentialRole.allCases.compactMap { role in
            guard let content = contents[role] else { return nil }
            let text = String(decoding: content, as: UTF8.self)
            return switch role {
            case .bearer: Header("Authorization", "Bearer \(text)")
            case .apiKey: Header("X-API-Key", text)
            case .clientCertificate, .clientKey, .authorities: nil
            }
        }
    }

    /// A SHA-256 of the credentials: it tells them from others and reveals none of them.
    package var digest: String {
        let parts = CredentialRole.allCases.filter { $0 != .authorities }.map { contents[$0] ?? [] }
        return SHA256.hexadecimal(of: parts.flatMap { Array("\($0.count):".utf8) + $0 })
    }
}

extension HostEnvironment {
    /// Reads a secret. Only root and the user of this process may be able to read its file.
    package func secret(_ credential: Credential) throws(CredentialError) -> [UInt8] {
        try credential.read(in: credentialsDirectory, secretOf: user)
    }

    /// Reads a token, without white space at its ends, such as an editor's line end. A token with a
    /// character that cannot stand in a header is refused, so that no credential can add headers.
    package func token(_ credential: Credential) throws(CredentialError) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        var bytes = try secret(credential)[...].drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        let token = String(decoding: bytes, as: UTF8.self)
        guard token.isVisibleASCII else {
            throw .unusable("token", credential.text, cause: Self.problem(ofToken: bytes))
        }
        return token
    }

    /// Why these bytes are no token, with what is likely wrong with the file and nothing of what is in it.
    private static func problem(ofToken bytes: ArraySlice<UInt8>) -> String {
        let marks: [[UInt8]] = [[0xEF, 0xBB, 0xBF], [0xFF, 0xFE], [0xFE, 0xFF]]
        if bytes.isEmpty { return "it is empty" }
        if marks.contains(where: bytes.starts(with:)) {
            return
                "it begins with a byte order mark (BOM); store it as plain ASCII, without the mark"
        }
        if bytes.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
            return "it has more than one line; store the token alone"
        }
        if String(decoding: bytes.prefix(7), as: UTF8.self).lowercased() == "bearer " {
            return "it begins with 'Bearer ', which is no part of the token; store the token alone"
        }
        return "it holds a blank, or another character that is not visible ASCII"
    }

    /// Reads a password, without the line end that editors leave. It has to be UTF-8.
    package func password(_ credential: Credential) throws(CredentialError) -> String {
        var bytes = try secret(credential)
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
        guard !bytes.isEmpty, let password = String(validating: bytes, as: UTF8.self) else {
            throw .unreadable(FileError("read the password in", credential.text, .malformed))
        }
        return password
    }
}

extension String {
    /// Whether it is not empty and all of it is visible ASCII, so that it may stand in a header.
    package var isVisibleASCII: Bool {
        !isEmpty && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
