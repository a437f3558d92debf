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
            reader.checkCredentials(
                for: [url], "'url' is", secrets: [HTTPKey.bearer.rawValue],
                isLocal: document.unixSocket != nil, &report)
            return .http(document)
        },
        schemes: ["http", "https"],
        members: { address in
            [(HTTPKey.url.rawValue, .string("\(address.scheme):\(address.rest)"))]
        })
}
