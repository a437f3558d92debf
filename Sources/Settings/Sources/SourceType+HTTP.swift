extension SourceType {
    /// A document that a web server holds.
    static let http = SourceType(
        word: "http", keys: HTTPKey.words,
        read: { reader, report in
            guard
                let url = reader.required(
                    HTTPKey.url, .url, because: ", which type 'http' needs", &report)
            else { return nil }
            var document = Source.Document(url: url)
            document.ca = reader.optional(HTTPKey.ca, .credential, &report)
            document.clientCertificate = reader.optional(
                HTTPKey.clientCertificate, .credential, &report)
            document.clientKey = reader.optional(HTTPKey.clientKey, .credential, &report)
            document.bearer = reader.optional(HTTPKey.bearer, .credential, &report)
            document.headers = reader.optional(HTTPKey.headers, .headers, &report) ?? []
            document.unixSocket = reader.optional(HTTPKey.unixSocket, .socketPath, &report)
            reader.checkTogether(document, &report)
            return .http(document)
        },
        schemes: ["http", "https"],
        members: { address in
            [(HTTPKey.url.rawValue, .string("\(address.scheme):\(address.rest)"))]
        })
}

extension TableReader {
    /// Checks the keys that mean something only beside each other.
    fileprivate func checkTogether(_ document: Source.Document, _ report: inout Report) {
        if let key = member(HTTPKey.clientKey), document.clientCertificate == nil {
            report.error(
                "'client_key' \(place) needs a 'client_certificate' beside it", at: key.keyOrigin)
        }
        guard document.url.hasPrefix("http:") else { return }
        for key in [HTTPKey.ca, .clientCertificate] {
            guard let member = member(key) else { continue }
            report.warn(
                "\(member.key.quoted) \(place) has no effect: 'url' is not https",
                at: member.keyOrigin)
        }
        if let bearer = member(HTTPKey.bearer), document.unixSocket == nil,
            !isLoopback(document.url)
        {
            report.warn(
                "'bearer' \(place) is sent in clear: 'url' is not https", at: bearer.keyOrigin)
        }
    }

    private func isLoopback(_ url: String) -> Bool {
        ["http://127.", "http://localhost", "http://[::1]"].contains { url.hasPrefix($0) }
    }
}
