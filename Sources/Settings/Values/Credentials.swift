import Files
import SourceKinds

extension ValueType where Value == Credential {
    /// A credential's name, or the absolute path of a file.
    static var credential: Self {
        Self(expected: "the name of a credential or an absolute path") {
            value throws(ValueProblem) in
            guard case .string(let text) = value else { throw .wrongType() }
            guard let credential = Credential(text) else {
                throw .bad(
                    "credential",
                    cause: "write the name of a credential, without '/', or an absolute path")
            }
            return credential
        } write: {
            $0.text.tomlText
        }
    }
}

extension TableReader {
    /// Reads the keys of certificates, which the types `http`, `etcd` and `ofrep` spell alike.
    func readCertificates(into site: inout Site, _ report: inout Report) {
        site.authorities = optional(HTTPKey.ca, .credential, &report)
        site.clientCertificate = optional(HTTPKey.clientCertificate, .credential, &report)
        site.clientKey = optional(HTTPKey.clientKey, .credential, &report)
    }

    /// Checks keys that need one another, and warns of secrets that are sent in clear.
    ///
    /// `subject` is the key of the URLs, with its verb: `'url' is`. With `isLocal`, a request leaves
    /// this host by no network.
    func checkCredentials(
        for urls: [String], _ subject: String, secrets: [String], isLocal: Bool = false,
        _ report: inout Report
    ) {
        if let key = member(HTTPKey.clientKey), member(HTTPKey.clientCertificate) == nil {
            report.error(
                "'client_key' \(place) needs a 'client_certificate' beside it", at: key.keyOrigin)
        }
        if urls.allSatisfy({ $0.hasPrefix("http:") }) {
            for member in [HTTPKey.ca, .clientCertificate].compactMap(member) {
                report.warn(
                    "\(member.key.quoted) \(place) has no effect: \(subject) not https",
                    at: member.keyOrigin)
            }
        }
        guard !isLocal, urls.contains(where: { $0.hasPrefix("http:") && !URLText($0).isLoopback })
        else { return }
        for member in table.members where secrets.contains(where: member.key.hasSameBytes) {
            report.warn(
                "\(member.key.quoted) \(place) is sent in clear: \(subject) not https",
                at: member.keyOrigin)
        }
    }
}
