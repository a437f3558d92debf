import JSON
import SourceKinds

/// The keys of a `[source.NAME]` of type `ofrep`, besides the keys of every type.
package enum OFREPKey: String, SettingKey {
    case url
    case context
    case bearer
    case apiKey = "api_key"
    case ca
    case clientCertificate = "client_certificate"
    case clientKey = "client_key"
}

extension SourceType {
    /// A server that evaluates flags for this host. No address implies such a source: an address with
    /// the scheme https is a document.
    static let ofrep = SourceType(
        word: "ofrep", keys: OFREPKey.words,
        read: { reader, limits, report in
            let url = reader.required(
                OFREPKey.url, .serverURL, because: ", which type 'ofrep' needs", &report)
            let context = reader.context(&report)
            var site = Site(url: url ?? "", limits: limits)
            site.bearer = reader.optional(OFREPKey.bearer, .credential, &report)
            site.apiKey = reader.optional(OFREPKey.apiKey, .credential, &report)
            reader.readCertificates(into: &site, &report)
            guard let url else { return nil }
            let secrets = [OFREPKey.bearer, .apiKey].map(\.rawValue)
            reader.checkCredentials(for: [url], "'url' is", secrets: secrets, &report)
            return .ofrep(EvaluationSite(server: site, context: context))
        },
        schemes: [], members: { _ in [] })
}

extension TableReader {
    /// The administrator's part of the context: any values, except that `targetingKey` of the protocol
    /// is a text.
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
    fileprivate static var serverURL: Self {
        .string(expected: "a URL such as \"https://flags.example.com\"") {
            text throws(ValueProblem) in
            if let flaw = URLText(text).flaw { throw .bad("URL", cause: flaw) }
            guard !text.utf8.contains(UInt8(ascii: "?")) else {
                throw .bad("URL", cause: "paths are added to it; leave out what follows '?'")
            }
            let url = text.withoutTrailingSlashes
            guard !url.split(separator: "/").dropFirst(2).contains("ofrep") else {
                throw .bad("URL", cause: "leave out '/ofrep' and what follows; it is added")
            }
            return url
        }
    }
}
