import Files
import SourceSettings

extension ValueType where Value == Credential {
    static var credential: Self {
        Self(expected: "the name of a credential or an absolute path", text: { $0.text }) {
            text throws(ValueProblem) in
            guard let credential = Credential(text) else {
                throw .bad(
                    "credential",
                    cause: "write the name of a credential, without '/', or an absolute path")
            }
            return credential
        }
    }

    /// A credential that requests carry: a token, a key, a password.
    static var secret: Self {
        var type = credential
        type.isSecret = true
        return type
    }
}

extension TableDecoder {
    /// Reads the keys of certificates, which the types `http`, `etcd` and `ofrep` spell alike.
    func readCertificates(into settings: inout HTTPSettings) {
        settings.credentials[.authorities] = optional(HTTPKey.ca, .credential)
        settings.credentials[.clientCertificate] = optional(HTTPKey.clientCertificate, .credential)
        settings.credentials[.clientKey] = optional(HTTPKey.clientKey, .credential)
    }

    /// Checks keys that need one another, and refuses secrets that would be sent in clear to another host,
    /// unless that is allowed. A Unix socket leads to no network. Call it once all secrets are read. `subject`
    /// is the key of the URLs, with its verb: `'url' is`.
    func checkCredentials(for urls: [String], _ subject: String) {
        require(HTTPKey.clientCertificate, "a ", beside: HTTPKey.clientKey)
        let plain = urls.map(URLText.init).filter { !$0.isHTTPS }
        if plain.count == urls.count {
            for member in [HTTPKey.ca, .clientCertificate].compactMap(member) {
                report.warn(
                    "\(member.key.quoted) \(place) has no effect: \(subject) not https",
                    at: member.keyOrigin)
            }
        }
        let isAllowed = value(HTTPKey.allowPlainHTTP, .bool, default: false)
        guard member(HTTPKey.unixSocket) == nil, !plain.allSatisfy(\.isLoopback), !isAllowed
        else { return }
        for member in report.secrets(of: path) {
            report.error(
                "\(member.key.quoted) \(place) would be sent in clear: \(subject) not https; write "
                    + "'https://', or add 'allow_plain_http = true'", at: member.keyOrigin)
        }
    }
}
