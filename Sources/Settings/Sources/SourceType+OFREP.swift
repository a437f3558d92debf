import JSON

extension SourceType {
    /// A server that evaluates flags for this host. No address stands for it: those of the scheme
    /// https are documents.
    static let ofrep = SourceType(
        word: "ofrep", keys: OFREPKey.words,
        read: { reader, report in
            let url = reader.required(
                OFREPKey.url, .serverURL, because: ", which type 'ofrep' needs", &report)
            let context = reader.context(&report)
            let bearer = reader.optional(OFREPKey.bearer, .credential, &report)
            let apiKey = reader.optional(OFREPKey.apiKey, .credential, &report)
            let ca = reader.optional(OFREPKey.ca, .credential, &report)
            let certificate = reader.optional(OFREPKey.clientCertificate, .credential, &report)
            let key = reader.optional(OFREPKey.clientKey, .credential, &report)
            guard let url else { return nil }
            let secrets = [OFREPKey.bearer, .apiKey].map(\.rawValue)
            reader.checkCredentials(for: [url], "'url' is", secrets: secrets, &report)
            return .ofrep(
                Source.Evaluation(
                    url: url, context: context, bearer: bearer, apiKey: apiKey, ca: ca,
                    clientCertificate: certificate, clientKey: key))
        },
        schemes: [], members: { _ in [] })
}

extension TableReader {
    /// The administrator's part of the context: any values, but for the one that the protocol knows.
    fileprivate func context(_ report: inout Report) -> JSON.Object {
        var context = JSON.Object()
        guard let table = table(OFREPKey.context, &report) else { return context }
        for member in table.table.members {
            let value: JSON.Value? =
                member.key.hasSameBytes(as: "targetingKey")
                ? table.optional(member, .text("targeting key"), &report).map(JSON.Value.string)
                : table.optional(member, .json, &report)
            if let value { context[member.key] = value }
        }
        return context
    }
}

extension ValueType where Value == String {
    /// The URL of a server, to which paths are added: without a query, and without `/` at the end.
    static var serverURL: Self {
        Self(expected: "a URL such as \"https://flags.example.com\"") {
            value throws(ValueProblem) in
            guard case .string(var text) = value else { throw .wrongType() }
            if let flaw = URLText(text).flaw { throw .bad("URL", cause: flaw) }
            guard !text.utf8.contains(UInt8(ascii: "?")) else {
                throw .bad("URL", cause: "paths are added to it; leave out what follows '?'")
            }
            while text.hasSuffix("/") { text.removeLast() }
            guard !text.split(separator: "/").dropFirst(2).contains("ofrep") else {
                throw .bad("URL", cause: "leave out '/ofrep' and what follows; it is added")
            }
            return text
        } write: {
            $0.tomlText
        }
    }
}
