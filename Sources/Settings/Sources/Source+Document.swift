package import Files

extension Source {
    /// A document that a web server holds, and how it is asked for.
    package struct Document: Hashable, Sendable {
        package var url: String
        package var ca: Credential?
        package var clientCertificate: Credential?
        package var clientKey: Credential?
        package var bearer: Credential?
        package var headers: [HeaderField] = []
        package var unixSocket: String?
    }

    /// A header field of every request.
    package struct HeaderField: Hashable, Sendable {
        package var name: String
        package var value: String
    }
}
